// Speaks to a server with the client of the protocol's SDK: reads a list of [method, parameters] from standard input, and prints what
// came of each, as a list of { result } or { error }. The SDK checks every answer: its shape, and what a tool answers against the
// schema that the tool was listed with.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [sdk, program, root, ...args] = process.argv.slice(2);
const load = (file) => import(pathToFileURL(join(sdk, "dist/esm", file)).href);
const { Client } = await load("client/index.js");
const { StdioClientTransport } = await load("client/stdio.js");
const { ListRootsRequestSchema, ResultSchema } = await load("types.js");

const client = new Client({ name: "test", version: "1" }, { capabilities: { roots: { listChanged: true } } });
client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: [{ uri: pathToFileURL(root).href }] }));
await client.connect(new StdioClientTransport({ command: program, args, env: process.env, stderr: "inherit" }));
const told = [];
for (const [method, parameters] of JSON.parse(readFileSync(0, "utf8"))) {
  try {
    const known = typeof client[method] === "function";
    const asked = known ? client[method](parameters) : client.request({ method, params: parameters }, ResultSchema);
    told.push({ result: await asked });
  } catch (error) {
    told.push({ error: { code: error.code, message: error.message } });
  }
}
const greeting = { instructions: client.getInstructions(), server: client.getServerVersion(), can: client.getServerCapabilities() };
await client.close();
process.stdout.write(JSON.stringify({ greeting, told }));
