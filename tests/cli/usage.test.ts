/** What the command line says without sending anything: mistakes, help, catalogue, explanations, dry runs. */
import { program } from '../../cli/run/arguments.ts'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pc from 'picocolors'
import { expect, test } from 'vitest'
import { catalogue, published, requirementById } from '../../catalogue/catalogue.ts'
import { explanation } from '../../cli/explain.ts'
import { commands } from '../../cli/index.ts'
import { version } from '../../package.json' with { type: 'json' }
import { duration } from '../../reporters/text.ts'
import { laidOut } from '../../reporters/terminal.ts'
import { folder, targetFile } from './conform.ts'
import { conform } from './in-process.ts'

const ids: readonly string[] = catalogue.map(({ id }) => id)
const url = 'http://127.0.0.1:9'

/** Command lines, and what is said of each. */
const mistakes = `
--seeed 4 | unknown option '--seeed'
--only jobs.crate/* | --only: no requirement matches jobs.crate/*; did you mean jobs.create/
--skip */401-missing | --skip: no requirement matches */401-missing; did you mean pdf.parse/401-missing-credentials?
--only translate.run/400-empty-txt | did you mean translate.run/400-empty-text?
explain jobs.crate/404-unknown-aplication | no requirement has this id; did you mean jobs.create/404-unknown-application? (conform list shows all)
explain graph.create | did you mean graphs.create/401-missing-credentials?
explain translate.run/2xx* | did you mean translate.run/2xx-accepted?
explain 404-unknown-application | did you mean jobs.create/404-unknown-application?
explain x | explain x: no requirement has this id (conform list shows all)
${url} --target= | --target: is empty; is a variable not set?
--report xml | xml is not a format here (json, html, junit,
localhost:8080 | the base URL must be an http or https URL
ftp://example.com | must be an http or https URL
https://me:secret-word@example.com | credentials
--runs many | whole number
--tpe both | Allowed choices are exact, family
--update-baseline | --update-baseline: needs --baseline
--baseline nowhere.json | nowhere.json: does not exist
--failed nowhere.json | nowhere.json: does not exist
--target nowhere.json | nowhere.json: does not exist
--target . | .: is a folder
check nowhere.har | nowhere.har: does not exist
serv | did you mean conform serve?
explian x | explian: not a command and not a URL; did you mean conform explain?
serve --port 65536 | 65535
${url} ${url} | too many arguments
${url} --header nothing | 'name: value'
${url} --header authorization:x | CONFORM_API_KEY
${url} --header content-length:4 | is set by the suite itself
${url} --header x-a:env:NOT_SET_AT_ALL | --header x-a: the environment variable NOT_SET_AT_ALL is not set
--start true | --start: give the base URL
--wait 5 | --wait: give the base URL
${url} --wait 0 | Give a whole number from 1
watch | conform watch needs a terminal; run conform instead
watch --dry-run | conform watch runs repeatedly
watch --baseline b.json --update-baseline | conform watch runs repeatedly
watch --report json=- | conform watch runs repeatedly
verify | missing required argument
verify --nothing | unknown option
`

test.each(
  mistakes
    .trim()
    .split('\n')
    .map((line) => line.split(' | ')),
)('conform %s: exit 2 and one sentence: %s', async (args, message) => {
  const { code, stdout, stderr } = await conform(args)
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  const [sentence, ...hints] = stderr.trimEnd().split('\n')
  expect(sentence).toMatch(/^conform: /)
  expect(stderr).toContain(message)
  // Commander's hints are in brackets.
  for (const hint of hints) expect(hint).toMatch(/^(?: {2})?\(.*\)$/)
  expect(stderr).not.toContain('secret-word')
})

test.each<[string, Parameters<typeof targetFile>[2], string]>([
  [
    'a misspelt member',
    (file) => (file.resources.aplication = {}),
    'resources.aplication; did you mean',
  ],
  [
    'a key whose variable is not set',
    (file) => (file.keys.full = { env: 'NO_SUCH_KEY' }),
    'NO_SUCH_KEY',
  ],
])('%s of the target file is named', async (_, change, named) => {
  const { code, stderr } = await conform(`-t ${targetFile(folder(), url, change)}`)
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(/^conform: .*\n$/) })
  expect(stderr).toContain(named)
})

test('help and version are no errors', async () => {
  expect(await conform('--version')).toMatchObject({ code: 0, stdout: `${version}\n`, stderr: '' })
  expect(await conform('--help')).toMatchObject({ code: 0, stderr: '' })
})

test('the help of each command fits 80 columns', async () => {
  for (const name of ['', ...Object.keys(commands)]) {
    const { stdout } = await conform(`${name} --help`, { columns: 80 })
    const lines = stdout.trimEnd().split('\n')
    expect(
      lines.filter((line) => line.length > 80),
      name,
    ).toEqual([])
  }
})

test('the help of watch leaves out what makes no sense in runs that repeat', async () => {
  const { stdout } = await conform('watch --help')
  expect(stdout).toContain('--baseline <file>')
  expect(stdout).not.toMatch(/--dry-run|--update-baseline/)
})

test('list gives the catalogue as text and as JSON', async () => {
  const json = await conform('list --json')
  expect(JSON.parse(json.stdout)).toEqual(catalogue.map(published))
  const members = ['effect', 'id', 'level', 'needs', 'operation', 'section', 'statement']
  for (const row of JSON.parse(json.stdout)) expect(Object.keys(row).sort()).toEqual(members)
  const { stdout } = await conform('list')
  for (const id of ids) expect(stdout).toContain(id)
})

test('explain says what is sent, what passes and why, and what to declare', async () => {
  const { code, stderr, stdout } = await conform('explain jobs.create/404-unknown-application')
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  const { section, expects } = requirementById['jobs.create/404-unknown-application']
  for (const part of [
    `jobs.create/404-unknown-application  required  §${section.replace(', ', ', §')}\n`,
    '/v1/applications/{application_id}/jobs with a valid request, but an unknown application_id',
    `\n  ${[expects].flat(2).join(' ')}.\n`,
    '\n  How is an unknown application refused? By 404 ',
    '\n      "application": {\n        "id": "<application id>",\n',
  ])
    expect(stdout).toContain(part)
})

test.each([
  ['jobs.create/409-job-in-progress', '  POST /v1/applications/{application_id}/jobs\n'],
  ['pdf.parse/4xx-removed', '\n  {"operations": {"pdf.parse": "removed"}}\n'],
  ['chat.create/200-structured-output', '  A 2xx, and what the statement above asks for.\n'],
  ['translate.run/2xx-accepted', '  Any 2xx whose body is not an error envelope.\n'],
  ['envelope/shape', '  Nothing: it is judged on '],
  ['guardrails/400-blocked', '  The valid request of the operation that the scenario names, '],
])('explain %s says %j', async (id, text) => {
  expect((await conform(`explain ${id}`)).stdout).toContain(text)
})

test('each explanation has all its parts, and no hole', async () => {
  const sections = ['What passes', 'Why', 'What is sent', 'What the target must declare']
  // The others are of the same forms.
  for (const requirement of catalogue.filter((_, at) => at % 10 === 0)) {
    const lines = await explanation(requirement, pc.createColors(false))
    const text = laidOut(lines, Infinity).join('\n')
    expect(text, requirement.id).not.toMatch(/undefined|\[object|\n\n\n/)
    expect(text.match(/^(?:What (?:is|passes|the).*|Why)$/gm), requirement.id).toEqual(sections)
  }
})

test('a dry run says how much would be sent, and how long that takes', async () => {
  const { code, stdout } = await conform('http://192.0.2.1 --dry-run --seed 1 --rate 10')
  expect(code).toBe(0)
  expect(stdout).toMatch(/^jobs\.create( +\d+){3}$/m)
  const [, requests = ''] = /^total +(\d+)( +\d+){2}$/m.exec(stdout)!
  expect(stdout).toMatch(
    new RegExp(
      `^Nothing was sent\\.\nA run sends about ${requests} requests, up to [1-9]\\d* more if answers are wrong\\.$`,
      'm',
    ),
  )
  expect(stdout).toContain(`\nAt 10 a second it takes about ${duration(Number(requests) * 100)}.\n`)
  const unlimited = await conform('http://192.0.2.1 --dry-run --seed 1')
  expect(unlimited.stdout).not.toMatch(/ a (?:second|minute) /)
})

const columns = 60
/** Lines that are copied, and never broken: JSON, requests, commands; and a table, which is narrower than any terminal of today. */
const copied =
  /^ *(?:[{}"[\]+-]|conform |startReference|(?:GET|POST) )|^[\w.-]+( +\d+){3}$|^operation +requests/

test.each([
  'list',
  'explain files.upload/507-storage-full',
  'explain translate.run/400-empty-text',
  '--target small.json --dry-run --seed 1 --rate 60/min',
  'explain translate.run/no-such-requirement',
  '--report jsno --target small.json',
])('a terminal breaks the text of conform %s between words; a pipe does not', async (args) => {
  const cwd = folder()
  const small = { baseUrl: 'http://localhost:9', name: 'small', limits: { maxGenerations: 1 } }
  writeFileSync(join(cwd, 'small.json'), JSON.stringify(small))
  const [shown, piped] = [await conform(args, { cwd, columns }), await conform(args, { cwd })].map(
    ({ stdout, stderr }) => stdout + stderr,
  ) as [string, string]
  const text = shown.split('\n').filter((line) => !copied.test(line))
  expect(text.length).toBeGreaterThan(1)
  expect(text.filter((line) => line.length > columns)).toEqual([])
  const words = (of: string) =>
    of
      .trim()
      .split(/[\s§]+/)
      .toSorted()
  expect(words(piped)).toEqual(words(shown))
  expect(piped.split('\n').length).toBeLessThan(shown.split('\n').length)
})

test('on a terminal the signs of an error and of a warning are red and yellow', async () => {
  const settings = { columns, env: { NO_COLOR: '', FORCE_COLOR: '1' } }
  const wrong = await conform('explain nope', settings)
  expect(wrong.stderr).toMatch(/^\u001b\[31mconform:\u001b\[39m explain nope: no requirement/)
  const warned = await conform(`${url} --dry-run --key short`, settings)
  expect(warned.stderr).toMatch(/^\u001b\[33mconform: warning:\u001b\[39m the key /)
})

test.each([
  ['/p/node_modules/.bin/conform', 'exec', 'npx conform'],
  ['/h/.npm/_npx/1/node_modules/.bin/conform', 'exec', 'npx ai-content-conformance'],
  ['/p/node_modules/.bin/vitest', 'exec', 'conform'],
  ['/p/node_modules/.bin/conform', 'run', 'conform'],
])('printed commands start %s (npm %s) as %s', (path, command, words) => {
  expect(program({ argv: ['node', path], env: { npm_command: command } }).join(' ')).toBe(words)
})
