/** Nothing ends silently: whatever the code of a target file does or never does, there is an exit code, a sentence and a report. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { conformProcess, folder, readReport } from './conform.ts'

const key = 'abcdefghijklmnop-1234'
const answers =
  "(request.url.endsWith('/files') ? Response.json([]) : Response.json({ tpe: 'NotFound', errors: [], extras: {} }, { status: 404 }))"
const target = `export default { keys: { full: '${key}' }, fetch: (request) => ${answers} }`
/** Does that while it answers. */
const meanwhile = (code: string) =>
  `setTimeout(() => { ${code} }, 100); ${target.replace(answers, `new Promise((resolve) => setTimeout(() => resolve(${answers}), 50))`)}`

async function run(source: string, words = '--only files.* --seed 1 --report json') {
  const cwd = folder()
  writeFileSync(join(cwd, 'target.mjs'), source)
  const ended = await conformProcess(`${words} -t target.mjs`, { cwd, env: { MY_TOKEN: key } })
  return { ...ended, cwd }
}

const exits = 'calls process.exit(0), which would end the run without a report: remove that call'
const rejects = "Promise.reject(new Error('no ' + process.env.MY_TOKEN))"

test.each<[what: string, source: string, sentence: string]>([
  [
    'an await that never settles',
    `await new Promise(() => {}); ${target}`,
    'target.mjs: loading the module never finishes: an await in it does not settle',
  ],
  ['process.exit(0)', `process.exit(0); ${target}`, `the module target.mjs ${exits}`],
  ['process.exit(0) later', meanwhile('process.exit(0)'), `the module target.mjs ${exits}`],
  [
    'an error that is thrown late',
    meanwhile(`throw new Error('bad key ${key}')`),
    'the module target.mjs threw an uncaught error: bad key $CONFORM_API_KEY',
  ],
  [
    'an error with a key that nobody knows',
    meanwhile("throw new Error('bad key ' + btoa('1234567890abcdefgh'))"),
    'the module target.mjs threw an uncaught error: bad key [redacted]',
  ],
  [
    'a rejected promise',
    meanwhile(rejects),
    'the module target.mjs left a rejected promise unhandled: no $CONFORM_API_KEY',
  ],
  [
    'a rejected promise before the target is known',
    `${rejects}; await new Promise((resolve) => setTimeout(resolve, 500)); ${target}`,
    'the module target.mjs left a rejected promise unhandled: no [redacted]',
  ],
  [
    'an event loop that empties',
    `let asked = 0; ${target.replace('=> (', `=> asked++ > 2 ? (process.emit('beforeExit', 0), new Promise(() => {})) : (`)}`,
    'the run cannot continue: nothing can happen any more, but conform still waits for files.',
  ],
])('a module with %s: exit 3, one sentence, the reports, no key', async (_, source, sentence) => {
  const { code, cwd, stderr, stdout } = await run(source)
  const report = readReport(cwd)
  expect({ code, stderr }).toEqual({ code: 3, stderr: '' })
  expect(stdout.trimEnd().split('\n').at(-1)).toContain(`exit 3: ${sentence}`)
  expect(report.exit.because).toContain(sentence)
  expect(report.verdict).not.toBe('conformant')
  expect(stdout + JSON.stringify(report)).not.toContain(key)
})

test.each(['check recording.har', '--dry-run'])(
  'process.exit(0) in a module: conform %s ends with 3 and says why',
  async (words) => {
    const cwd = folder()
    writeFileSync(join(cwd, 'target.mjs'), `process.exit(0); ${target}`)
    writeFileSync(join(cwd, 'recording.har'), '{"log": {"entries": []}}')
    expect(await conformProcess(`${words} -t target.mjs`, { cwd })).toMatchObject({
      code: 3,
      stderr: `conform: the module target.mjs ${exits}\n`,
    })
  },
)

test('a timer of a module that goes on for ever does not keep the run alive', async () => {
  const { code, ms } = await run(`setInterval(() => {}, 1000); ${target}`)
  expect({ code, isSoon: ms < 60_000 }).toEqual({ code: 1, isSoon: true })
})

test('the exit code stays, whatever a module sets at the end', async () => {
  const source = `process.on('exit', () => { process.exitCode = 0 }); ${target}`
  expect(await run(source)).toMatchObject({ code: 1 })
})

test('what a module prints has no key, nor has an error while it is loaded', async () => {
  const late = target.replace('=> (', `=> console.error('late ${key}') ?? (`)
  const { code, stderr, stdout } = await run(`console.log('early ${key}'); ${late}`)
  expect(code).toBe(1)
  expect(stdout).toContain('early [redacted]')
  expect(stderr).toContain('late $CONFORM_API_KEY')
  expect(stdout + stderr).not.toContain(key)
  const named = target.replace(`'${key}'`, "{ env: 'MY_TOKEN' }")
  const printing = await run(`console.log('early ' + process.env.MY_TOKEN); ${named}`)
  expect(printing.stdout).toContain('early $MY_TOKEN')
  const broken = "const apiKey = 'shown-nowhere'; throw new Error('no ' + apiKey)"
  expect(await run(broken, '')).toMatchObject({
    code: 2,
    stderr: 'conform: target.mjs: the module cannot be loaded: no [redacted]\n',
  })
})
