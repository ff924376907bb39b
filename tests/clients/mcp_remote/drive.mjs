// npm `mcp-remote`, which carries stdio to HTTP, under the SDK's stdio client, which has one mode.
// Usage: drive.mjs URL KEY MODE, the calls to make on standard input.

import { createRequire } from "node:module";
import { json } from "node:stream/consumers";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const [url, key] = process.argv.slice(2);
const proxy = createRequire(import.meta.url).resolve("mcp-remote/dist/proxy.js");
const args = [proxy, url, "--transport", "http-only", "--header", `Authorization: Bearer ${key}`];

const client = new Client({ name: "drive", version: "1" });
await client.connect(new StdioClientTransport({ command: process.execPath, args, env: process.env }));
const { tools } = await client.listTools();
const answers = [];
for (const [name, args] of await json(process.stdin)) {
  answers.push(await client.callTool({ name, arguments: args }).catch((error) => ({ error: error.message })));
}
await client.close();
console.log(JSON.stringify({ tools: tools.map((tool) => tool.name), answers }));
