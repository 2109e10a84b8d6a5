import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { loadTargetFile } from '../../harness/target/load.ts'
import { UserError } from '../../harness/user-error.ts'
import { folder } from '../cli/conform.ts'

const dir = folder()
mkdirSync(join(dir, 'folder.json'))

function written(name: string, text: string): string {
  writeFileSync(join(dir, name), text)
  return join(dir, name)
}

test('JSON with comments and a comma too many is read', async () => {
  const path = written(
    'a.json',
    '\uFEFF{\n  // where\n  "baseUrl": "https://example.com", /* and */ "name": "a // b",\n}\n',
  )
  expect(await loadTargetFile(path)).toEqual({
    file: { baseUrl: 'https://example.com', name: 'a // b' },
    dir,
  })
})

test.each([
  [
    'a.ts',
    `import { defineTarget } from 'ai-content-conformance'\nconst name: string = 'a'\nexport default defineTarget({ name })`,
  ],
  [
    'a.mts',
    `import { defineTarget, type Target } from 'ai-content-conformance'\nconst target: Target = { name: 'a' }\nexport default defineTarget(target)`,
  ],
  ['a.mjs', `export default { name: 'a' }`],
  ['a.js', `module.exports = { name: 'a' }`],
])('%s is read through its default export', async (name, text) => {
  expect((await loadTargetFile(written(name, text))).file).toEqual({ name: 'a' })
})

test('a function in place of a key stays a function', async () => {
  const { file } = await loadTargetFile(
    written('key.ts', `export default { keys: { full: async () => 'a-key-of-its-own' } }`),
  )
  expect(file.keys?.full).toBeTypeOf('function')
})

test('nothing of a module is written anywhere else', async () => {
  const name = `cached-${process.pid}`
  await loadTargetFile(
    written(`${name}.ts`, `export default { keys: { full: 'a-key-in-a-module' as string } }`),
  )
  const cached = [join(tmpdir(), 'jiti'), 'node_modules/.cache/jiti'].filter((folder) =>
    existsSync(folder),
  )
  expect(
    cached.flatMap((folder) => readdirSync(folder)).filter((file) => file.includes(name)),
  ).toEqual([])
})

test.each([
  ['none.json', undefined, 'none.json: does not exist'],
  ['a.yaml', 'name: a', 'a.yaml: a target file ends in .json, .ts, .mts, .js, .mjs'],
  [
    'broken.json',
    '{\n  "name": "a"\n  "baseUrl": "b"\n}',
    'broken.json: is not JSON at line 3, column 3',
  ],
  ['cut.json', '{"name": ', 'cut.json: is not JSON at line 1, column 10'],
  [
    'twice.json',
    '{"name": "a", // one\n "name": "b"}',
    'twice.json: "name" appears twice at line 2, column 2',
  ],
  [
    'ring.mjs',
    'const a = []; a[0] = a; export default { setup: a }',
    'ring.mjs: contains a value that JSON cannot represent',
  ],
  [
    'named.mjs',
    'export const target = {}',
    'named.mjs: no default export; write export default defineTarget({ ... })',
  ],
  [
    'thrown.ts',
    'throw new Error("first line\\nsecond line")',
    'thrown.ts: the module cannot be loaded: first line',
  ],
  [
    'rejected.mjs',
    'export default Promise.reject(new Error("nobody is logged in"))',
    'rejected.mjs: the module cannot be loaded: nobody is logged in',
  ],
  [
    'getter.mjs',
    'export default { get keys() { throw new Error("nobody is logged in") } }',
    'getter.mjs: the module cannot be loaded: nobody is logged in',
  ],
  [
    'syntax.ts',
    'export default {\n  name: "x",\n  const y\n}\n',
    "syntax.ts:3:3: the module cannot be loaded: ParseError: Unexpected keyword 'const'.",
  ],
  ['wrong.json', '{"nam": 1}', 'wrong.json: unknown member nam; did you mean name?'],
  ['deep.json', '['.repeat(100_000), 'deep.json: is nested too deeply'],
  ['folder.json', undefined, 'folder.json: is a folder'],
])('%s is refused in one sentence', async (name, text, message) => {
  if (text !== undefined) written(name, text)
  const error = await loadTargetFile(join(dir, name)).catch((caught: unknown) => caught)
  expect(error).toBeInstanceOf(UserError)
  expect((error as UserError).message.replaceAll(`${dir}/`, '')).toBe(message)
})
