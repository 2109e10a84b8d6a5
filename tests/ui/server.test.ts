import { request } from 'node:http'
import { expect, test } from 'vitest'
import { folder, referenceKey, targetFile } from '../cli/conform.ts'
import { conform } from '../cli/in-process.ts'
import { reference } from '../cli/reference.ts'
import { eventsUntilEnd, startPage } from './page.ts'

const only = ['--only', 'files.retrieve/4*', '--runs', '1']

interface Asked {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/** Asks with exactly these headers; `fetch` would not let `Host` be chosen. */
function ask(address: string, { method = 'GET', headers = {}, body }: Asked = {}) {
  return new Promise<{ status: number; headers: Record<string, unknown>; body: string }>(
    (resolve, reject) => {
      const sent = request(address, { method, headers }, (answer) => {
        let text = ''
        answer.setEncoding('utf8').on('data', (piece: string) => (text += piece))
        answer.on('end', () =>
          resolve({ status: answer.statusCode!, headers: answer.headers, body: text }),
        )
      })
      sent.on('error', reject).end(body)
    },
  )
}

test('nothing is answered to whoever does not know the address, or comes by another name', async () => {
  const { url, ui } = await startPage(only)
  const { origin, port, pathname } = new URL(url)
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/[\w-]{22}\/$/)
  const token = pathname.slice(1, -1)
  const run = { method: 'POST', body: '{"run": "all"}' }

  const refused = [
    ask(`${origin}/`),
    ask(`${origin}/events`),
    ask(`${origin}/${'A'.repeat(22)}/`),
    ask(`${origin}/${token.slice(0, -1)}/`),
    ask(`${origin}/?${token}`),
    ask(url, { headers: { host: `attacker.example:${port}` } }),
    ask(url, { headers: { host: `127.0.0.1:1` } }),
    ask(`${url}run`, { ...run, headers: { origin: 'http://attacker.example' } }),
    ask(`${url}run`, { ...run, headers: { 'sec-fetch-site': 'cross-site' } }),
    ask(`${origin}/run`, run),
  ]
  for (const answer of await Promise.all(refused)) {
    expect(answer.status).toBe(403)
    expect(answer.body).toBe('Open the whole address that conform ui printed.')
  }

  const page = await ask(url, { headers: { origin: 'http://attacker.example' } })
  expect(page.status).toBe(200)
  const policy = page.headers['content-security-policy'] as string
  expect(policy).toContain("default-src 'none'")
  expect(policy).toContain("frame-ancestors 'none'")
  expect(policy).not.toContain('unsafe')
  expect(page.headers).toMatchObject({
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-store',
  })
  expect(Object.keys(page.headers).filter((name) => name.startsWith('access-control'))).toEqual([])
  expect((await ask(`${url}nothing`)).status).toBe(404)
  expect((await ask(url, { method: 'DELETE' })).status).toBe(404)

  ui.child.kill('SIGINT')
  expect(await ui.ended).toMatchObject({
    code: 0,
    stdout: `${url}\nopen it in a browser; Ctrl-C ends it\n`,
    stderr: '',
  })
})

test('runs when it is opened, and as its buttons say; no key is on the page or in what it is told', async () => {
  const { url: target } = await reference({ defects: ['files.retrieve/404-unknown-file'] })
  const cwd = folder()
  const { url } = await startPage(['-t', targetFile(cwd, target), ...only], cwd)
  const before = (await ask(url)).body
  const events = await eventsUntilEnd(url)
  const after = (await ask(url)).body
  for (const text of [before, events, after]) expect(text).not.toContain(referenceKey)
  expect(after).toContain('$CONFORM_API_KEY')
  expect(before).toContain('aria-label="404-unknown-file (must): waiting"')
  for (const [word, page] of Object.entries({ Judging: before, 'Non-conformant': after }))
    expect(page).toContain(`<h2 class="word">${word}</h2>`)
  expect(after).toContain('aria-label="404-unknown-file (must): failed"')
  expect(after).toContain('data-run="files.retrieve/404-unknown-file">Judge again')

  const press = (run: unknown) =>
    ask(`${url}run`, { method: 'POST', body: JSON.stringify({ run }) })
  expect((await press('failed')).status).toBe(202)
  expect(await press('all')).toMatchObject({ status: 409, body: 'A run goes on: stop it first.' })
  expect(await eventsUntilEnd(url)).toContain('0 newly failed, 0 newly passed')
  expect(await press('files.retrieve/nothing')).toMatchObject({ status: 409 })
  expect(await press([])).toMatchObject({ status: 409 })
  expect(await press(['files.retrieve/404-unknown-file', 'files.retrieve/nothing'])).toMatchObject({
    status: 409,
  })
  const { body: sent } = await ask(
    `${url}sent?id=${encodeURIComponent('files.retrieve/404-unknown-file')}`,
  )
  expect(sent).toMatch(
    /^<p class="facts">\d+ exchanges? in .*<svg class="line".*<details class="x">/s,
  )
  expect(sent).not.toContain(referenceKey)
  // A target file that is not there to be added to: its name is never the page's to say.
  expect(
    (
      await ask(`${url}run`, {
        method: 'POST',
        body: JSON.stringify({ add: '{"baseUrl": "http://x"}' }),
      })
    ).status,
  ).toBe(409)
  expect((await ask(`${url}run`, { method: 'POST', body: '{' })).status).toBe(409)
  // Nobody sends that much; the connection is closed.
  await expect(ask(`${url}run`, { method: 'POST', body: 'x'.repeat(100_000) })).rejects.toThrow()
  expect((await ask(url)).status).toBe(200)
})

test('what is wrong from the beginning is told at once, and a port that is taken', async () => {
  expect(await conform('ui -t missing.json')).toMatchObject({
    code: 2,
    stdout: '',
    stderr: 'conform: missing.json: no such target file\n',
  })
  expect((await conform('ui --dry-run')).stderr).toMatch(
    /^conform: --dry-run is not for conform ui, /,
  )
  const { url } = await startPage([])
  const { port } = new URL(url)
  expect(await conform(`ui --port ${port}`)).toMatchObject({
    code: 2,
    stderr: `conform: --port ${port}: cannot be used (EADDRINUSE); give another, or 0 for any\n`,
  })
})
