/** Nothing ends silently: whatever the code of a target file does or never does, there is an exit code, a sentence and a report. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { conformProcess, folder, readReport } from './conform.ts'

const key = 'abcdefghijklmnop-1234'
const target = `{ keys: { full: '${key}' }, fetch: () => Response.json({ files: [] }) }`
/** Answers while the module does something else. */
const slow = `{ keys: { full: '${key}' }, fetch: () => new Promise((resolve) => setTimeout(() => resolve(Response.json({ files: [] })), 50)) }`

/** Writes the module of a target file, and runs the words with it. */
async function run(source: string, words: readonly string[] = []) {
  const cwd = folder()
  writeFileSync(join(cwd, 'target.mjs'), source)
  writeFileSync(
    join(cwd, 'recording.har'),
    JSON.stringify({ log: { version: '1.2', entries: [] } }),
  )
  const ended = await conformProcess([...words, '-t', 'target.mjs'], {
    cwd,
    env: { MY_TOKEN: key },
  })
  return { ...ended, cwd }
}

const reported = ['--only', 'files.*', '--seed', '1', '--report', 'json']

const stories: readonly [what: string, source: string, sentence: string][] = [
  [
    'an await that never settles',
    `await new Promise(() => {}); export default ${target}`,
    'target.mjs: loading the module never finishes: an await in it does not settle',
  ],
  [
    'process.exit(0)',
    `process.exit(0); export default ${target}`,
    'the module target.mjs calls process.exit(0), which would end the run without a report: remove that call',
  ],
  [
    'process.exit(0) in the middle',
    `setTimeout(() => process.exit(0), 100); export default ${slow}`,
    'the module target.mjs calls process.exit(0), which would end the run without a report: remove that call',
  ],
  [
    'an error that is thrown late',
    `setTimeout(() => { throw new Error('bad key ${key}') }, 100); export default ${slow}`,
    'the module target.mjs threw an uncaught error: bad key $CONFORM_API_KEY',
  ],
  [
    'a key that nobody knows',
    `setTimeout(() => { throw new Error('bad key ' + btoa('1234567890abcdefgh')) }, 100); export default ${slow}`,
    'the module target.mjs threw an uncaught error: bad key [redacted]',
  ],
  [
    'a rejected promise',
    `setTimeout(() => Promise.reject(new Error('no ' + process.env.MY_TOKEN)), 100); export default ${slow}`,
    'the module target.mjs left a rejected promise unhandled: no $CONFORM_API_KEY',
  ],
  [
    'a rejected promise before the target is known',
    `Promise.reject(new Error('no ' + process.env.MY_TOKEN)); await new Promise((resolve) => setTimeout(resolve, 500)); export default ${target}`,
    'the module target.mjs left a rejected promise unhandled: no [redacted]',
  ],
  [
    'an event loop that empties',
    `let asked = 0
     export default { keys: { full: '${key}' }, fetch: () => {
       if (asked++ < 3) return Response.json({ files: [] })
       process.emit('beforeExit', 0)
       return new Promise(() => {})
     } }`,
    'the run cannot continue: nothing can happen any more, but conform still waits for files.',
  ],
]

describe('a target module with', () => {
  test.each(stories)(
    '%s: exit 3, one sentence, the reports, no key',
    async (_, source, sentence) => {
      const { code, cwd, stderr, stdout } = await run(source, reported)
      expect(stderr).toBe('')
      const report = readReport(cwd)
      expect({ code, last: stdout.trimEnd().split('\n').at(-1) }).toEqual({
        code: 3,
        last: expect.stringContaining(`exit 3: ${sentence}`) as string,
      })
      expect(report.exit.because).toContain(sentence)
      expect(report.verdict).not.toBe('conformant')
      expect(stdout + stderr + JSON.stringify(report)).not.toContain(key)
      expect(stderr).not.toContain('bug in the suite')
    },
  )

  test('a timer that goes on for ever does not keep the run alive', async () => {
    const { code, ms } = await run(
      `setInterval(() => {}, 1000); export default ${target}`,
      reported,
    )
    expect({ code, isSoon: ms < 60_000 }).toEqual({ code: 1, isSoon: true })
  })

  test.each([['check', 'recording.har'], ['--dry-run']])(
    'process.exit(0): conform %s ends with 3 and says why',
    async (...words) => {
      const { code, stderr } = await run(`process.exit(0); export default ${target}`, words)
      expect({ code, stderr }).toEqual({
        code: 3,
        stderr:
          'conform: the module target.mjs calls process.exit(0), which would end the run without a report: remove that call\n',
      })
    },
  )

  test('the exit code stays, whatever it sets at the end', async () => {
    const source = `process.on('exit', () => { process.exitCode = 0 }); export default ${target}`
    expect(await run(source, reported)).toMatchObject({ code: 1 })
  })

  test('what it prints has no key', async () => {
    const source = `console.log('early ${key}'); export default { keys: { full: '${key}' }, fetch: () => { console.error('late ${key}'); return Response.json({ files: [] }) } }`
    const { code, stderr, stdout } = await run(source, reported)
    expect(code).toBe(1)
    expect(stdout).toContain('early [redacted]')
    expect(stderr).toContain('late $CONFORM_API_KEY')
    expect(stdout + stderr).not.toContain(key)
  })

  test('an error while it is loaded: no key in the sentence', async () => {
    const { code, stderr } = await run(
      `const apiKey = 'shown-nowhere'; throw new Error('no ' + apiKey)`,
    )
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: 'conform: target.mjs: the module cannot be loaded: no [redacted]\n',
    })
  })
})
