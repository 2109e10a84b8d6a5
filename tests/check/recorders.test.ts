/** Recordings as other programs write them: what they hold is judged, and what they lack is named. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { deflateSync, gzipSync } from 'node:zlib'
import { zipSync } from 'fflate'
import { expect, test } from 'vitest'
import { folder } from '../cli/conform.ts'
import { conform } from '../cli/in-process.ts'
import { createdJob, entry, envelope, har, job, type Told } from './har.ts'

/** Runs `check` on these bytes, with the files that lie beside them. */
async function checked(
  bytes: string | Uint8Array | object,
  {
    beside = {},
    devices = {},
    name = 'x.har',
  }: {
    beside?: Record<string, string>
    devices?: Record<string, string>
    name?: string
  } = {},
) {
  const cwd = folder()
  const isText = typeof bytes === 'string' || bytes instanceof Uint8Array
  writeFileSync(join(cwd, name), isText ? bytes : JSON.stringify(bytes))
  mkdirSync(join(cwd, 'resources'))
  for (const [file, text] of Object.entries(beside)) writeFileSync(join(cwd, file), text)
  for (const [file, device] of Object.entries(devices)) symlinkSync(device, join(cwd, file))
  const { code, stderr, stdout } = await conform(['check', name], { cwd })
  const failed = [...stdout.matchAll(/^✗ {1,2}(?:must|should)? *([a-z-]+\/[\w-]+)/gm)]
  return { code, stderr, stdout, last: stdout.trimEnd().split('\n').at(-1), failed: failed.length }
}

const list = { to: '/v1/files', answers: [] }
const noExtras = '{"tpe":"NotFound","errors":[]}'
const gzip = { name: 'Content-Encoding', value: 'gzip' }
const json = { name: 'Content-Type', value: 'application/json' }
const missing: Told = { to: '/v1/files/a', status: 404, answers: noExtras }

test.each<[what: string, content: Record<string, unknown>]>([
  [
    'the size on the wire, and what was lost by compressing (mitmproxy)',
    { size: 50, compression: -20 },
  ],
  ['the size on the wire of a chunked body (Fiddler)', { size: 45, compression: 0 }],
  [
    'a compressed body as it came (selenium-wire)',
    { text: gzipSync(noExtras).toString('base64'), encoding: 'base64', size: 50 },
  ],
  ['a comment beside the whole body', { comment: 'decoded by the recorder' }],
])('%s hides no fault of a whole body', async (_what, content) => {
  const response = { headers: [json, gzip] }
  const { code, stdout } = await checked(har(list, { ...missing, content, response }))
  expect(code).toBe(1)
  expect(stdout).toContain('envelope/shape')
})

test('a body that lacks its end is still no evidence', async () => {
  const content = { size: 50, text: noExtras.slice(0, -5) }
  expect(await checked(har(list, { ...missing, content }))).toMatchObject({ code: 0 })
})

test('an entry that cannot be read is named, and costs no other', async () => {
  const log = har(list, missing).log
  const [good, bad] = log.entries as [object, object]
  const odd = [
    { ...entry({ to: 'https://cdn.example.net/x.js' }), response: undefined },
    ...[null, { ...good, request: { method: 'GET', url: null } }, { ...good, response: [] }],
    { ...good, request: { ...entry(list).request, headers: null, postData: null } },
    { ...good, response: { ...entry(list).response, headers: [{ name: 'x', value: null }] } },
  ]
  const { code, stderr, stdout } = await checked({ log: { ...log, entries: [good, ...odd, bad] } })
  expect(code).toBe(1)
  expect(stderr).toBe(
    'conform: warning: 3 entries could not be read: log.entries[2]: must be an object (HAR 1.2); ' +
      'log.entries[3].request.url: must be a string (HAR 1.2); ' +
      'log.entries[4].response: must be an object (HAR 1.2)\n',
  )
  expect(stdout).toContain('4 of 5 entries judged')
})

const attached = (file: string) => ({ content: { text: undefined, size: -1, _file: file } })

test('files that a recorder wrote beside the recording are read (Playwright)', async () => {
  const recording = har(list, { ...missing, ...attached('resources/a1.json') })
  const beside = { 'resources/a1.json': noExtras }
  expect(await checked(recording, { beside })).toMatchObject({ code: 1, stderr: '' })
  expect(await checked(recording)).toMatchObject({
    code: 0,
    stderr: `conform: warning: 1 body is in a file beside the recording, and not there: keep them together, or record with content: 'embed'\n`,
  })
  // Nothing else of the disk is read.
  const outside = har(list, { ...missing, ...attached('../../etc/passwd') })
  expect((await checked(outside)).stderr).toContain('1 body is in a file')
  // Only files are: a pipe would be waited for, and a device may never end.
  const devices = { 'resources/a1.json': '/dev/null' }
  expect((await checked(recording, { devices })).stderr).toContain('1 body is in a file')
})

test('and so are those in an archive', async () => {
  const recording = har(list, { ...missing, ...attached('a1.json') })
  const files = {
    'har.har': Buffer.from(JSON.stringify(recording)),
    'a1.json': Buffer.from(noExtras),
  }
  expect(await checked(zipSync(files), { name: 'x.zip' })).toMatchObject({ code: 1, stderr: '' })
  const other = har(list, { ...missing, ...attached('constructor') })
  const without = zipSync({ 'har.har': Buffer.from(JSON.stringify(other)) })
  const { stderr } = await checked(without, { name: 'x.zip' })
  expect(stderr).toContain('1 body is in a file beside the recording, and not there')
})

const text = JSON.stringify(har(list))
test.each<[what: string, bytes: Uint8Array, message: string]>([
  ['gzip', gzipSync(text), 'x.har: is compressed by gzip; unpack it first (gunzip)'],
  ['zlib', deflateSync(text), 'x.har: is compressed by zlib, as mitmproxy writes .zhar'],
  [
    'UTF-16 with its mark',
    Buffer.from(`\uFEFF${text}`, 'utf16le'),
    'x.har: is text in UTF-16; save it as UTF-8',
  ],
  ['UTF-16 without', Buffer.from(text, 'utf16le'), 'x.har: is text in UTF-16; save it as UTF-8'],
  [
    'an archive of something else',
    zipSync({ 'raw/1_c.txt': Buffer.from('GET /') }),
    'x.har: is a zip archive without a .har; export the traffic as HAR 1.2',
  ],
  [
    'an archive of several',
    zipSync({ 'a.har': Buffer.from(text), 'b.har': Buffer.from(text) }),
    'x.har: holds several .har files',
  ],
  [
    'a broken archive',
    Buffer.from('PK\x03\x04 and no more'),
    'x.har: is a zip archive that cannot be unpacked',
  ],
])('%s is named', async (_what, bytes, message) => {
  const { code, stderr } = await checked(bytes)
  expect(code).toBe(2)
  expect(stderr).toContain(`conform: ${message}`)
})

test.each<[creator: string, option: string]>([
  [
    'WebInspector',
    'record it in the network panel of Chrome or Edge: "Save all as HAR with content"',
  ],
  ['Firefox', 'record it in Firefox: reload with the network monitor open, then "Save All As HAR"'],
  ['Playwright', `record it with Playwright: recordHar: { content: 'embed' }`],
  ['another', 'record it with content (browsers: "Save all as HAR with content")'],
])('a recording of %s without bodies names the option for them', async (name, option) => {
  const created = { to: '/v1/applications/a/jobs', sends: { inputs: [] }, status: 202 }
  const without = { answers: createdJob, content: { text: undefined } }
  const { log } = har({ ...created, ...without })
  const { code, stderr, stdout } = await checked({ log: { ...log, creator: { name } } })
  expect(code).toBe(3)
  expect(stderr).toContain(option)
  expect(stdout).toContain('the recorder left out the body of such an answer')
})

test('that no success was recognised is what exit 3 says', async () => {
  const refused = { ...missing, answers: envelope('NotFound') }
  expect((await checked(har(refused))).last).toBe(
    'exit 3: nothing was judged: the recording shows no success of an operation that could be recognised',
  )
  expect((await checked(har())).last).toMatch(
    /^exit 3: nothing was judged: the recording has no answered request/,
  )
})

test('a must that a recording breaks gives 1, however little else it shows', async () => {
  expect((await checked(har(missing))).last).toMatch(/^exit 1: \d musts? failed$/)
})

test('a recording of months is told in days', async () => {
  const { log } = har(list, { to: `/v1/applications/jobs/${job.id}`, answers: job })
  const [first, second] = log.entries
  const late = { ...second, startedDateTime: '2026-06-26T18:57:00.000Z' }
  const { stdout } = await checked({ log: { ...log, entries: [first, late] } })
  expect(stdout).toContain('requests in 117 days 6 h; recorded traffic')
})
