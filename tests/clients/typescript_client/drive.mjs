// npm `@modelcontextprotocol/client`. Usage: drive.mjs URL KEY MODE, the calls to make on standard input.

import { json } from "node:stream/consumers";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

const [url, key, mode] = process.argv.slice(2);
const isVersion = /^\d/.test(mode);
const options = mode === "default" ? {} : { versionNegotiation: { mode: isVersion ? { pin: mode } : mode } };
const headers = { Authorization: `Bearer ${key}` };

const client = new Client({ name: "drive", version: "1" }, options);
await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
const { tools } = await client.listTools();
const answers = [];
for (const [name, args] of await json(process.stdin)) {
  answers.push(await client.callTool({ name, arguments: args }).catch((error) => ({ error: error.message })));
}
await client.close();
console.log(JSON.stringify({ tools: tools.map((tool) => tool.name), answers }));
