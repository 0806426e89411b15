// Called by `build`, which is what builds the component.
import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { componentize } from '@bytecodealliance/componentize-js';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const { component } = await componentize({
  sourcePath: here('src/adapter.js'),
  witPath: here('../../wit/since-v0.1.0'),
  worldName: 'adapter',
  // Without these features the component imports nothing, so that there is nothing it could do but parse.
  disableFeatures: ['random', 'stdio', 'clocks', 'http', 'fetch-event'],
});
await writeFile(process.argv[2], component);
