import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { catalogue, published } from '../../catalogue/catalogue.ts'
import { conformProcess, folder, targetFile } from './conform.ts'
import { conform } from './in-process.ts'
import { commands, examples } from '../../cli/index.ts'
import reference from '../../fixtures/reference.target.json' with { type: 'json' }

const about = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string
}

/** One sentence on stderr, perhaps with commander's hints in brackets, and nothing else anywhere. */
function sentence(stderr: string): string {
  const [first = '', ...rest] = stderr.trimEnd().split('\n')
  for (const line of rest) expect(line).toMatch(/^(?:  )?\(.*\)$/)
  expect(first).toMatch(/^conform: /)
  expect(stderr).not.toMatch(/\n\s+at /)
  return first
}

const url = 'http://127.0.0.1:9'

test.each<[why: string, args: string | string[], message: RegExp]>([
  ['an unknown option', '--seeed 4', /unknown option '--seeed'/],
  [
    'a pattern without a match',
    '--only jobs.crate/*',
    /--only: no requirement matches jobs\.crate\/\*/,
  ],
  ['a pattern without a match to skip', '--skip nothing', /--skip: no requirement matches nothing/],
  [
    'a pattern of stars',
    ['--only', '*'.repeat(3000)],
    /--only: a pattern has at most 256 characters; this one has 3000$/,
  ],
  [
    'a pattern of stars to list',
    ['list', '*a'.repeat(3000)],
    /list: a pattern has at most 256 characters/,
  ],
  [
    'two reports for stdout',
    '--report json=- --report har=-',
    /stdout \(-\) is taken by --report json=-/,
  ],
  ['an unknown format', '--report jsno', /jsno is not a format here; did you mean json\?/],
  ['the file of a format in place of its name', '--report xml', /did you mean junit\?/],
  [
    'a target file that is not there, in the place of the URL',
    'staging.json',
    /did you mean conform --target staging.json\?/,
  ],
  ['a number that is invalid', '--runs many', /--runs <n>.*whole number/],
  ['no place for the baseline', '--update-baseline', /--update-baseline: needs --baseline/],
  ['a baseline that is not there', '--baseline nowhere.json', /nowhere\.json/],
  ['a mode that is invalid', '--tpe both', /--tpe <mode>.*exact, family/],
  ['a scheme that is not HTTP', 'ftp://example.com', /must be an http or https URL/],
  ['credentials in the base URL', 'https://me:secret-word@example.com', /credentials/],
  ['a mistyped command', 'serv', /did you mean conform serve\?/],
  [
    'a mistyped command with an argument',
    'explian x',
    /explian: not a command.*did you mean conform explain\?/,
  ],
  [
    'help on a mistyped command',
    'help exlain',
    /help exlain: no such command; did you mean explain\?/,
  ],
  ['help on no command', 'help tea', /help tea: no such command; conform help lists all/],
  ['a report that is not there', '--failed nowhere.json', /nowhere\.json: does not exist$/],
  ['a recording that is not there', 'check nowhere.har', /nowhere\.har: does not exist$/],
  [
    'a requirement in the place of the URL',
    'envelope/shape',
    /did you mean conform explain envelope\/shape, or/,
  ],
  ['an address without a scheme', 'localhost:8080', /the base URL must be an http or https URL/],
  ['a target file that is not there', '--target nowhere.json', /nowhere\.json: does not exist/],
  ['a folder for a target file', '--target .', /\.: is a folder/],
  ['too many arguments', [url, url], /too many arguments/],
])('%s: exit 2 and one sentence', async (_, args, message) => {
  const { code, stdout, stderr } = await conform(args)
  expect(sentence(stderr)).toMatch(message)
  expect(stderr).not.toContain('secret-word')
  expect(stdout).toBe('')
  expect(code).toBe(2)
})

test('a misspelt member of the target file is named, with the nearest valid one', async () => {
  const dir = folder()
  const file = targetFile(
    dir,
    url,
    (target) => (target.resources.aplication = target.resources.application),
  )
  const { code, stderr } = await conform(`-t ${file}`)
  expect(sentence(stderr)).toMatch(/resources\.aplication.*application/)
  expect(code).toBe(2)
})

test('a module that cannot be read is named with line and column', async () => {
  const cwd = folder()
  writeFileSync(join(cwd, 'mine.mjs'), 'export default {\n  name: "x",\n  const y\n}\n')
  // In a process of its own: in this one the test runner reads modules.
  const { code, stderr } = await conformProcess('-t mine.mjs', { cwd })
  expect({ code, said: sentence(stderr) }).toEqual({
    code: 2,
    said: "conform: mine.mjs:3:3: the module cannot be loaded: ParseError: Unexpected keyword 'const'.",
  })
})

test('a key whose variable is not set is named', async () => {
  const file = targetFile(folder(), url, (target) => (target.keys.full = { env: 'NO_SUCH_KEY' }))
  const { code, stderr } = await conform(`-t ${file}`)
  expect(sentence(stderr)).toContain('NO_SUCH_KEY')
  expect(code).toBe(2)
})

test('verify ends with 2 where there is nothing that it could look at', async () => {
  for (const args of ['verify', 'verify --nothing', `verify ${folder()}/none.json`])
    expect((await conform(args)).code).toBe(2)
})

test('help and version are no errors, and say what they are asked', async () => {
  const help = await conform(['--help'])
  expect(help).toMatchObject({ code: 0, stderr: '' })
  for (const word of ['--target', '--report', 'serve', 'compare', 'verify'])
    expect(help.stdout).toContain(word)
  expect(await conform(['--version'])).toMatchObject({
    code: 0,
    stdout: `${about.version}\n`,
    stderr: '',
  })
  expect(await conform('help compare')).toMatchObject({ code: 0, stderr: '' })
})

test('the catalogue as text and as JSON', async () => {
  const json = await conform('list --json')
  expect(json).toMatchObject({ code: 0, stderr: '' })
  const rows = JSON.parse(json.stdout) as Record<string, unknown>[]
  expect(rows).toEqual(catalogue.map(published))
  const members = ['effect', 'id', 'level', 'needs', 'operation', 'section', 'statement']
  for (const row of rows) expect(Object.keys(row).sort()).toEqual(members)
  const text = await conform(['list'])
  for (const { id } of catalogue) expect(text.stdout).toContain(id)
})

test('a dry run says how much would be sent, and sends nothing', async () => {
  const { code, stdout } = await conform(
    `-t ${targetFile(folder(), 'http://192.0.2.1')} --dry-run --seed -5`,
  )
  expect(code).toBe(0)
  expect(stdout).toMatch(/^Nothing was sent\.\nTypical: /m)
  expect(stdout).toMatch(/^jobs\.create( +\d+){4}$/m)
  expect(stdout).toMatch(/^total( +\d+){4}$/m)
})

test('a dry run says which limit is enough if cases may be left out', async () => {
  const limited = (maxGenerations: number): Promise<{ stdout: string }> => {
    const file = { ...reference, limits: { ...reference.limits, maxGenerations } }
    const path = join(folder(), 'target.json')
    writeFileSync(path, JSON.stringify(file))
    return conform(`http://192.0.2.1 -t ${path} --dry-run --seed 1`)
  }
  const { stdout } = await limited(100)
  const [, enough = '0'] =
    /limits\.maxGenerations is 100: [\s\S]* (\d+) is enough\.$/m.exec(stdout) ?? []
  const enoughFor = await limited(Number(enough))
  expect(enoughFor.stdout).toMatch(new RegExp(`^total .* ${enough}$`, 'm'))
  expect(enoughFor.stdout).not.toContain('maxGenerations')
})

test('the help of each command fits a screen of 80 columns and 40 lines', async () => {
  for (const name of ['', ...Object.keys(commands)]) {
    const { stdout } = await conform(`${name} --help`, { columns: 80 })
    const lines = stdout.trimEnd().split('\n')
    expect(lines.length, name).toBeLessThanOrEqual(40)
    expect(lines.filter((line) => line.length > 80)).toEqual([])
  }
})

test('each command has an example that it takes, and help fits 60 columns', async () => {
  expect(Object.keys(examples).toSorted()).toEqual(Object.keys(commands).toSorted())
  for (const [name, lines] of Object.entries(examples)) {
    const { stdout } = await conform(`${name} --help`)
    expect(stdout.split('\nExamples:\n')).toHaveLength(2)
    for (const [line] of lines) {
      expect(stdout).toContain(`\n  ${line}\n`)
      const given = line.slice(line.lastIndexOf('conform ')).match(/(?<=\s)--?[a-z][\w-]*/g) ?? []
      for (const option of given)
        expect(stdout, `${line}: ${option}`).toMatch(new RegExp(`^ {2}(-\\w, )?${option}[ ,]`, 'm'))
    }
  }
})
