import { expect, test } from 'vitest'
import { html, judgeBehind, json, type Reply } from './behind.ts'

// What a run says of a target that something in front of it, or its own state, makes answer otherwise: true as a whole.

const error = (tpe: string) => ({ tpe, errors: [], extras: {} })
const textOf = async (request: Request): Promise<string> =>
  Buffer.from(await request.arrayBuffer()).toString()
const terminalOf = async (reply: Reply, only?: string[]): Promise<string> => {
  const { terminal } = await judgeBehind(reply, { backoffMs: 250, ...(only && { only }) })
  return terminal()
}

test('a redirect to the path with a slash is told as a redirect, and no base URL is blamed', async () => {
  const text = await terminalOf((path, answer) =>
    path.endsWith('/')
      ? answer()
      : new Response(null, { status: 308, headers: { location: `${path}/` } }),
  )
  expect(text).toMatch(/received +308 to \/base\/v1\//)
  expect(text).toMatch(
    /^every path is redirected, and a redirect is not followed: serve the paths/m,
  )
  expect(text).toContain('requests are redirected: 308')
  expect(text).not.toMatch(/log-in|base URL/)
})

test('a firewall that blocks a few words is named by its page', async () => {
  const text = await terminalOf(
    async (_, answer, _ms, request) =>
      /"model":(?:\{|\[|true|\d)/.test(await textOf(request))
        ? html(403, 'Request blocked', 'waf')
        : answer(),
    ['completion.create/*', 'chat.create/*', 'envelope/*'],
  )
  expect(text).toMatch(
    /^ +\d+ +no error envelope, but a page: 403 Request blocked \(waf\)\n +if something in front/m,
  )
  expect(text).not.toMatch(/status is right|lacks a right/)
})

test('a restart that loses what was created is told by what is gone, and asks nobody to declare anything', async () => {
  const made = new Set<string>()
  const text = await terminalOf(
    async (path, answer, sinceMs, request) => {
      const asked = `${path} ${await textOf(request)}`
      if (sinceMs > 1500 && [...made].some((id) => asked.includes(id)))
        return json(404, error('ResourceNotFound'))
      const response = await answer()
      if (request.method !== 'POST' || response.status >= 300 || sinceMs > 1500) return response
      const { id } = (await response
        .clone()
        .json()
        .catch(() => ({}))) as { id?: string }
      if (id !== undefined) made.add(id)
      return response
    },
    ['files.*', 'graphs.*', 'applications.create/*', 'jobs.*'],
  )
  expect(text).toMatch(
    /^ +\d+ +what the run creates is not found later\n +keep what is created: look for a restart/m,
  )
  expect(text).not.toMatch(/grant them|declare a request that succeeds/)
})

test.each([
  [
    'BadToken',
    /401 BadToken, so the service has read it: it may have expired; give one that is valid$/m,
  ],
  [
    'BadCredentials',
    /answered 401; if the key is right, a proxy .* may remove the header Authorization/,
  ],
] as const)('a key that was never accepted, by 401 %s', async (tpe, sentence) => {
  const text = await terminalOf(() => json(401, error(tpe)))
  expect(text).toMatch(sentence)
  if (tpe === 'BadToken') expect(text).not.toContain('proxy')
})

test('two instances that know different things, and a cookie that keeps requests on one, are told once', async () => {
  const owner = new Map<string, number>()
  let sent = 0
  const text = await terminalOf(
    async (path, answer, _ms, request) => {
      const node = sent++ % 2
      const marked = (response: Response): Response => {
        response.headers.append('set-cookie', `node=${node}; Path=/`)
        return response
      }
      const asked = `${path} ${await textOf(request)}`
      if ([...owner].some(([id, at]) => at !== node && asked.includes(id)))
        return marked(json(404, error('ResourceNotFound')))
      const response = await answer()
      const copy = new Response(await response.clone().arrayBuffer(), response)
      if (request.method === 'POST' && response.status < 300) {
        const { id } = (await response.json().catch(() => ({}))) as { id?: string }
        if (id !== undefined) owner.set(id, node)
      }
      return marked(copy)
    },
    ['files.*', 'graphs.*', 'applications.create/*', 'jobs.*'],
  )
  expect(text).toMatch(
    /answers differ from one time to the next: \d+ of \d+ answers were 404 ResourceNotFound\n.*know different things: .*the cookie node may keep all requests on one of them/,
  )
  expect(text).not.toMatch(/grant them|refuse them with/)
})
