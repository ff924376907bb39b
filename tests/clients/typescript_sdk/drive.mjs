// npm `@modelcontextprotocol/sdk`. Usage: drive.mjs URL KEY MODE, the calls to make on standard input. It has one mode.

import { json } from "node:stream/consumers";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const [url, key] = process.argv.slice(2);
const headers = { Authorization: `Bearer ${key}` };

const client = new Client({ name: "drive", version: "1" });
await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
const { tools } = await client.listTools();
const answers = [];
for (const [name, args] of await json(process.stdin)) {
  answers.push(await client.callTool({ name, arguments: args }).catch((error) => ({ error: error.message })));
}
await client.close();
console.log(JSON.stringify({ tools: tools.map((tool) => tool.name), answers }));
