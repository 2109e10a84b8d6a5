import { execFileSync } from 'node:child_process'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import MiniSearch, { type Options } from 'minisearch'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { violations } from '../support/accessibility.ts'
import { hasChromium, launchChromium, phone } from '../support/chromium.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const about = 'requirements/jobs.create/404-unknown-application.html'
const read = (path: string): string => readFileSync(join(root, 'site', path), 'utf8')

beforeAll(() => void execFileSync('npm', ['run', '--silent', 'site'], { cwd: root }), 900_000)

test('a page shows what is sent, seen by judging the reference, a right and a wrong exchange', () => {
  const text = read(about).replaceAll(/<[^>]+>/g, '')
  expect(text).toContain('with a valid request, but an unknown application_id')
  expect(text).toMatch(/An exchange that passes[\s\S]*HTTP\/1.1 404[\s\S]*ResourceNotFound/)
  expect(text).toMatch(/An exchange that fails[\s\S]*HTTP\/1.1 202/)
})

/** The index that the pages search, with the settings that they search it by. */
async function searchOfSite(): Promise<MiniSearch> {
  const { searchOptions } = (await import(join(root, 'docs/site/.vitepress/search.js'))) as {
    searchOptions: { miniSearch: { options: Partial<Options>; searchOptions: object } }
  }
  const chunks = join(root, 'site/assets/chunks')
  const name = readdirSync(chunks).find((one) => one.startsWith('@localSearchIndex'))!
  const { default: index } = (await import(join(chunks, name))) as { default: string }
  return MiniSearch.loadJSON(index, {
    fields: ['title', 'titles', 'text'],
    storeFields: ['title', 'titles'],
    searchOptions: searchOptions.miniSearch.searchOptions,
    ...searchOptions.miniSearch.options,
  })
}

/** What people look for, in their words, and a part of the page that answers it. */
const lookedFor: readonly (readonly [words: string, page: string])[] = [
  ['why is my 404 wrong', 'questions.html#why-is-my-404-wrong'],
  ['how do I slow it down', 'questions.html#how-do-i-slow-it-down'],
  ['what does not tested mean', 'questions.html#what-does-not-tested-mean'],
  ['judge one requirement', 'questions.html#how-do-i-judge-only-one-requirement'],
  ['run what failed', 'questions.html#how-do-i-run-only-what-failed'],
  ['same run again', 'questions.html#how-do-i-get-the-same-run-again'],
  ['ignore known failure', 'questions.html#how-do-i-ignore-a-known-failure'],
  ['exit code 3', 'questions.html#what-does-exit-code-3-mean'],
  ['why passing not conformant', 'questions.html#why-is-the-verdict-incomplete-passing'],
  ['what does it create', 'questions.html#what-does-it-create-on-my-server'],
  ['leave my data alone', 'questions.html#can-it-leave-my-data-alone'],
  ['how many requests', 'questions.html#how-many-requests-does-it-send'],
  ['where do I put the key', 'questions.html#where-do-i-put-the-key'],
  ['has no vision', 'questions.html#my-server-has-no-vision'],
  ['error no client can cause', 'questions.html#how-do-i-test-a-429'],
  ['self-signed certificate', 'questions.html#how-do-i-judge-a-server-with-a-self'],
  ['recorded traffic', 'docs/check.html'],
  ['get a certificate', 'questions.html#how-do-i-get-a-certificate'],
  ['compare two services', 'questions.html#how-do-i-compare-two-services'],
  ['github actions', 'docs/github-actions.html'],
  ['without npm', 'docs/standalone.html'],
  ['--bail', 'docs/command-line.html'],
  ['--require-exercised', 'docs/command-line.html'],
  ['settleMs', 'docs/target-file.html'],
  ['409-job-in', 'requirements/jobs.create/409-job-in-progress.html'],
  ['unknown application', about],
  ['jobs.create/404-unknown-application', about],
  ['wrong only on a reused connection', 'docs/for-implementers.html#wrong-only-on-a-reused'],
  ['the answers to one request differ', 'docs/for-implementers.html#the-answers-to-one-request'],
  ['certifcate bundl', 'docs/certificates'],
  ['baseline update', 'docs/ci.html'],
]

test('the search finds questions, options, ids and words of messages', async () => {
  const index = await searchOfSite()
  const lost = lookedFor.filter(([words, page]) => {
    const found = index.search(words).slice(0, 5)
    return !found.some(({ id }) => String(id).includes(page))
  })
  expect(lost).toEqual([])
})

test('nothing is loaded from another place, and a page that is not there says so', () => {
  for (const page of ['index.html', '404.html', about]) {
    expect(read(page), page).not.toMatch(/<(?:script|img|iframe)[^>]* src="(?:https?:)?\/\//)
    expect(read(page), page).not.toMatch(/<link[^>]* href="(?:https?:)?\/\//)
  }
})

const types: Readonly<Record<string, string>> = {
  '.css': 'text/css',
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
}

/** As any web server would. */
function serve(): Promise<Server> {
  const server = createServer(({ url = '/' }, response) => {
    const { pathname } = new URL(url, 'http://localhost')
    const path = join(root, 'site', decodeURIComponent(pathname.replace(/\/$/, '/index.html')))
    const isThere = existsSync(path) && statSync(path).isFile()
    const file = isThere ? path : join(root, 'site/404.html')
    response.writeHead(isThere ? 200 : 404, {
      'content-type': types[extname(file)] ?? 'font/woff2',
    })
    response.end(readFileSync(file))
  })
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)))
}

const isThere = hasChromium('the site')
let browser: Browser | undefined
let server: Server | undefined
let address = ''
beforeAll(async () => {
  if (!isThere) return
  browser = await launchChromium()
  server = await serve()
  address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
})
afterAll(async () => {
  await browser?.close()
  server?.close()
})

test.skipIf(!isThere).each(['light', 'dark'] as const)(
  'axe finds nothing in our pages, and nobody else is asked: %s',
  async (colorScheme) => {
    const tab = await browser!.newPage({ colorScheme })
    const asked: string[] = []
    tab.on('request', (request) => asked.push(request.url()))
    for (const path of ['', about, 'docs/target-file.html', 'docs/fault-matrix.html']) {
      await tab.goto(address + path)
      await tab.waitForSelector('.VPNavBarSearch button')
      expect(await violations(tab), path).toEqual([])
    }
    expect(asked.filter((url) => !url.startsWith(address) && !url.startsWith('data:'))).toEqual([])
    await tab.close()
  },
)

test.skipIf(!isThere)('the search works by keys', async () => {
  const tab = await browser!.newPage()
  await tab.goto(address + about)
  await tab.waitForSelector('.VPNavBarSearch button')
  await tab.keyboard.press('Control+k')
  await tab.waitForSelector('.VPLocalSearchBox input')
  await tab.keyboard.type('quota exceeded translate')
  await tab.waitForSelector('.VPLocalSearchBox .result')
  await tab.keyboard.press('Enter')
  await tab.waitForURL(`${address}requirements/translate.run/429-quota-exceeded.html*`)
  await tab.close()
})

test.skipIf(!isThere)(
  'the fault matrix is filtered, and the address keeps the filter',
  async () => {
    const tab = await browser!.newPage()
    await tab.goto(`${address}docs/fault-matrix.html?operation=translate.run`)
    await tab.waitForSelector('.filters')
    await tab.getByLabel('Words').fill('empty text')
    const cells = tab.locator('tbody tr')
    await expect.poll(() => cells.count()).toBeLessThan(20)
    for (const cell of await cells.allInnerTexts()) expect(cell).toMatch(/^translate\.run\s/)
    expect(tab.url()).toContain('operation=translate.run&words=empty+text')
    await tab.close()
  },
)

test.skipIf(!isThere)('a phone shows it without scrolling aside', async () => {
  const tab = await browser!.newPage({ viewport: phone })
  for (const path of ['', about, 'docs/command-line.html']) {
    await tab.goto(address + path)
    expect(await tab.evaluate('document.documentElement.scrollWidth'), path).toBeLessThanOrEqual(
      phone.width,
    )
  }
  await tab.close()
})
