/** `--start` and `--wait`: a server that begins and ends with its run. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { freePort } from '../support/raw-server.ts'
import { listen } from '../wire/servers.ts'
import { folder, readReport, start } from './conform.ts'
import { conform } from './in-process.ts'

/** A server that answers everything by 401, as a program that writes what happens to it; it is slow to begin. */
const program = `const { writeFileSync } = require('node:fs')
writeFileSync('pid', String(process.pid))
console.log('the key is ' + process.env.CONFORM_API_KEY)
process.on('SIGTERM', () => { writeFileSync('ended', 'gently'); process.exit() })
const body = JSON.stringify({ tpe: 'BadCredentials', errors: [], extras: {} })
const server = require('node:http').createServer((request, response) => {
  request.resume().on('end', () => response.writeHead(401, { 'content-type': 'application/json' }).end(body))
})
setTimeout(() => server.listen(process.argv[2], '127.0.0.1'), 200)
`

const key = 'a-full-key-of-this-test'
const only = ['--only', 'files.list/401-missing-credentials', '--seed', '1']

async function place(text = program) {
  const cwd = folder()
  writeFileSync(join(cwd, 'server.cjs'), text)
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const settings = { cwd, env: { TMPDIR: cwd, CONFORM_API_KEY: key } }
  const run = (command: string, ...more: string[]) =>
    conform([url, '--start', command, ...only, '--report', 'json', ...more], settings)
  // With a second command the server is a child of the shell.
  return { cwd, url, run, settings, command: `node server.cjs ${port} && true` }
}

function isAlive(cwd: string): boolean {
  try {
    return process.kill(Number(readFileSync(join(cwd, 'pid'), 'utf8')), 0)
  } catch {
    return false
  }
}

test('the server is started, waited for, judged, and ended with its children; its output shows no key', async () => {
  const { cwd, command, run } = await place()
  const ran = await run(command)
  // Every request with the key is refused: nothing could be judged.
  expect(ran).toMatchObject({ code: 3, stderr: '' })
  expect(readReport(cwd).run.requests).toBeGreaterThan(0)
  expect(readFileSync(join(cwd, 'ended'), 'utf8')).toBe('gently')
  expect(isAlive(cwd)).toBe(false)
  const [, log = ''] = /the output of the server: (\S+)/.exec(ran.stdout) ?? []
  expect(readFileSync(log, 'utf8')).toBe(`the key is ${key}\n`)
  expect(ran.stdout).not.toContain(key)
})

test('a port that is taken is exit 2, and the command is not started', async () => {
  const { cwd, run, url } = await place()
  let asked = 0
  await listen(
    createServer((_, response) => (asked++, response.end())),
    Number(new URL(url).port),
  )
  const ran = await run('touch started')
  expect(ran).toMatchObject({ code: 2, stdout: '' })
  expect(ran.stderr).toMatch(
    /^conform: --start: another program already listens on 127\.0\.0\.1:\d+ and would/,
  )
  expect({ asked, started: existsSync(join(cwd, 'started')) }).toEqual({ asked: 0, started: false })
})

test('a command that ends before it answers is exit 3, with its exit code and the error that it wrote', async () => {
  const { cwd, run } = await place()
  const command = `echo first; echo "DatabaseError: no database for ${key} at db://me:word@host" >&2; echo '    at connect (db.js:1)'; exit 4`
  const ran = await run(command)
  expect(ran.code).toBe(3)
  const { exit, verdict, run: facts } = readReport(cwd)
  expect({ verdict, requests: facts.requests }).toEqual({ verdict: 'not-judged', requests: 0 })
  expect(exit.because).toMatch(
    /^the command of --start ended \(with exit code 4\) before http:\S+ answered; it wrote \(\S+\): DatabaseError: no database for \$CONFORM_API_KEY at db:\/\/me:\[redacted\]@host$/,
  )
  expect(ran.stdout.trimEnd().split('\n').at(-1)).toBe(`exit 3: ${exit.because}`)
  expect(ran.stdout + ran.stderr).not.toContain(key)
})

test.each<[string, string, number, RegExp]>([
  [
    'no such program',
    `no-such-program-of-${key}`,
    2,
    /^conform: --start: the shell could not run the command \(exit code 127\): .*no-such-program-of-\$CONFORM_API_KEY/,
  ],
  ['a command that goes into the background', 'true', 3, /exit code 0\) before \S+ answered/],
])('%s is reported with its remedy', async (_, command, code, sentence) => {
  const ran = await (await place()).run(command)
  expect(ran.code).toBe(code)
  expect(ran.stderr + ran.stdout).toMatch(sentence)
})

test('--wait alone waits for a server that somebody else starts, and gives up in time', async () => {
  const { url } = await place()
  const late = await conform([url, '--wait', '50', ...only])
  expect(late.code).toBe(3)
  expect(late.stdout).toMatch(
    /exit 3: http:\S+ did not answer within 0\.05 s: connection refused at 127/,
  )
  const running = conform([url, '--wait', '30000', ...only, '--report', 'json=-'])
  await listen(
    createServer((_, response) => response.writeHead(401).end()),
    Number(new URL(url).port),
  )
  expect(JSON.parse((await running).stdout).run.requests).toBeGreaterThan(0)
})

test('a rerun starts the server too, without what is handed over as a secret', async () => {
  const { cwd, url, command, run } = await place(
    program.replace('writeHead(401', "writeHead(request.url.endsWith('/v1/files') ? 200 : 404"),
  )
  const ran = await run(`DB_PASSWORD=hunter2 ${command}`, '--wait', '20000')
  expect(ran.code).toBe(1)
  const failed = readReport(cwd).requirements.find(({ outcome }) => outcome === 'failed')
  expect(failed?.failures[0]?.rerun).toBe(
    `conform ${url} --start 'DB_PASSWORD=[redacted] ${command}' --wait 20000 --only files.list/401-missing-credentials --seed 1`,
  )
  expect(ran.stdout).not.toContain('hunter2')
})

test.each([1, 2])('after %i SIGTERM no process of the server is left', async (signals) => {
  // It ends by SIGKILL alone, and answers nothing.
  const deaf = program
    .replace(/process\.on.*/, "process.on('SIGTERM', () => writeFileSync('heard', ''))")
    .replace(/request\.resume.*/, "writeFileSync('asked', '')")
  const { cwd, url, command, settings } = await place(deaf)
  const run = start([url, '--start', command, ...only], settings)
  await expect.poll(() => existsSync(join(cwd, 'asked'))).toBe(true)
  run.child.kill('SIGTERM')
  if (signals === 2) {
    // It has begun to end its server: the second signal waits for nothing.
    await expect.poll(() => existsSync(join(cwd, 'heard')), { interval: 5 }).toBe(true)
    run.child.kill('SIGTERM')
  }
  const { code } = await run.ended
  expect([3, 143]).toContain(code)
  await expect.poll(() => isAlive(cwd)).toBe(false)
})
