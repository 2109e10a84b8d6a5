import { getRequestListener } from '@hono/node-server'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import {
  type FetchHandler,
  fromNodeListener,
  runConformance,
  type Target,
} from '../../library/index.ts'
import { createReference } from '../../reference/server.ts'
import { conform, reference } from '../cli/in-process.ts'
import { folder, readReport } from '../cli/conform.ts'
import { inVirtualTime } from '../support/virtual-time.ts'

/** The reference as a program has it: a `fetch`, and what it declares. */
function referenceHandler(...defects: string[]) {
  const { handle, target } = createReference({ defects })
  const { baseUrl: _, ...declared } = target as Target
  return { fetch: handle as FetchHandler, target: declared }
}

test('a handler is judged without a port', async () => {
  const { fetch, target } = referenceHandler()
  const only = ['jobs.create/202-created', 'files.list/*'] as const
  const options = { depth: 'quick', seed: 5, only } as const
  const { requirements, target: judged } = await inVirtualTime(
    () => runConformance({ ...target, fetch }, options).report,
  )
  const passed = requirements.filter(({ outcome }) => outcome === 'passed').map(({ id }) => id)
  expect(passed).toEqual(
    expect.arrayContaining(['jobs.create/202-created', 'files.list/2xx-accepted']),
  )
  expect(requirements.filter(({ outcome }) => outcome === 'failed')).toEqual([])
  expect(judged.baseUrl).toBe('http://in-process.localhost')
})

const defect = 'files.retrieve/404-unknown-file'

test.each<[string, (fetch: FetchHandler) => FetchHandler]>([
  ['a fetch', (fetch) => fetch],
  [
    'a listener of Node',
    (fetch) => fromNodeListener(getRequestListener(fetch, { overrideGlobalObjects: false })),
  ],
])(
  '%s that breaks a requirement fails it, and the lines to copy say what they cannot do',
  async (_, made) => {
    const { fetch, target } = referenceHandler(defect)
    const only = [defect, 'files.retrieve/2xx-accepted', 'files.list/2xx-accepted'] as const
    const options = { runs: 1, seed: 5, only }
    const report = await runConformance({ ...target, fetch: made(fetch) }, options).report
    const failed = report.requirements.filter(({ outcome }) => outcome === 'failed')
    expect(failed.map(({ id }) => id)).toEqual([defect])
    const [failure] = failed[0]!.failures
    expect(failure!.exchange!.curl).toMatch(
      / {2}# .*the target is a handler in the same process: no port is open/,
    )
    expect(failure!.rerun).toBe(
      `conform --target '<a module that exports this target>' --runs 1 --only ${defect} --seed 5`,
    )
  },
)

test('a handler that throws is named, with what it threw', async () => {
  const fetch = () => Promise.reject(new Error('no database for the key of the tests'))
  const target = { fetch, keys: { full: 'the key of the tests' } }
  const { exit } = await inVirtualTime(() => runConformance(target).report)
  expect(exit.because).toMatch(
    /judged: the handler in this process failed: Error: no database for \$CONFORM_API_KEY$/,
  )
})

test('a name that a scenario used in another account is not asked for in the own one', async () => {
  const { fetch, target } = referenceHandler()
  const inOtherAccount: FetchHandler = async (request) => {
    if (request.headers.get('x-account') === null && !request.url.includes('other-account'))
      return fetch(request)
    return Response.json({ id: 'other-account' })
  }
  const other = { 'graphs.create/2xx-usable': { headers: { 'x-account': 'other' } } }
  const scenarios = { ...target.scenarios, ...other }
  const options = { seed: 5, only: ['graphs.create/*'] as const }
  const report = await inVirtualTime(
    () => runConformance({ ...target, scenarios, fetch: inOtherAccount }, options).report,
  )
  expect(report.requirements.filter(({ outcome }) => outcome === 'failed')).toEqual([])
})

test('the command line judges the handler of a module, unless a base URL is given', async () => {
  const cwd = folder()
  writeFileSync(
    join(cwd, 'target.mjs'),
    `export default { fetch: () => Response.json({ tpe: 'BadCredentials', errors: [], extras: {} }, { status: 401 }) }`,
  )
  const args = '-t target.mjs --only files.list/401-missing-credentials --seed 1 --report json'
  const ran = await conform(args, { cwd })
  expect(ran.stdout).toContain('a handler in this process')
  const row = readReport(cwd).requirements.find(
    ({ id }) => id === 'files.list/401-missing-credentials',
  )
  // Without a key it is sent, and nothing says that a key would be accepted.
  expect(row).toMatchObject({ outcome: 'not-exercised', reason: expect.stringMatching(/^no key/) })
  expect(row?.cases).toBeGreaterThan(0)
  const { url } = await reference()
  const elsewhere = await conform(`${url} ${args}`, { cwd })
  expect(elsewhere.stdout).toContain(url)
  expect(elsewhere.stdout).not.toContain('a handler in this process')
})

test.each<[object, RegExp]>([
  [{ fetch: 'app.fetch' }, /^the target: fetch must be a function, such as app\.fetch/],
  [
    { fetch: () => new Response(), baseUrl: 'http://127.0.0.1:1' },
    /^the target: fetch replaces baseUrl: remove/,
  ],
])('%o is an error that names the remedy', async (target, sentence) => {
  await expect(runConformance(target as Target).report).rejects.toThrow(sentence)
})

const ask = (fetch: FetchHandler, init?: RequestInit): Promise<Response> =>
  Promise.resolve(fetch(new Request('http://in-process.localhost/v1/files?a=%20b', init)))

test('a listener of Node gets the request as it would over a socket, and its response comes back whole', async () => {
  const fetch = fromNodeListener((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (piece: string) => (body += piece))
    request.on('end', () => {
      response.writeHead(201, ['set-cookie', 'a=1', 'set-cookie', 'b=2'])
      response.write(`${request.method} ${request.url} `)
      setImmediate(() => response.end(`${request.headers.host} ${body}`))
    })
  })
  const response = await ask(fetch, { method: 'POST', body: 'tea' })
  expect(response.status).toBe(201)
  expect(response.headers.getSetCookie()).toEqual(['a=1', 'b=2'])
  expect(await response.text()).toBe('POST /v1/files?a=%20b in-process.localhost tea')
  const empty = await ask(fromNodeListener((_, other) => other.writeHead(204).end()))
  expect([empty.status, await empty.text()]).toEqual([204, ''])
  const long = 'x'.repeat(1_000_000)
  expect(await (await ask(fromNodeListener((_, other) => other.end(long)))).text()).toBe(long)
})

test.each<[string, Parameters<typeof fromNodeListener>[0], RegExp]>([
  [
    'throws',
    () => {
      throw new Error('a slip')
    },
    /a slip/,
  ],
  ['rejects', async () => Promise.reject(new Error('a later slip')), /a later slip/],
  ['closes the connection', (request) => request.socket.destroy(), /closed|hang up|aborted/],
])('a listener that %s gives no response', async (_, listener, message) => {
  await expect(ask(fromNodeListener(listener))).rejects.toThrow(message)
})

test('a listener that never answers is given up when the request is', async () => {
  const controller = new AbortController()
  let gone: () => void
  const noticed = new Promise<void>((resolve) => (gone = resolve))
  const fetch = fromNodeListener((request) => {
    request.socket.once('close', () => gone())
    controller.abort()
  })
  await expect(ask(fetch, { signal: controller.signal })).rejects.toThrow(/abort/i)
  await noticed
})

test.each(['--wait 5', '--start true'])('a handler is not waited for: %s', async (words) => {
  const cwd = folder()
  writeFileSync(join(cwd, 'target.mjs'), 'export default { fetch: () => new Response() }')
  const { code, stderr } = await conform(`-t target.mjs ${words}`, { cwd })
  expect(code).toBe(2)
  expect(stderr).toMatch(/^conform: --(wait|start): the target file has a handler/)
})
