import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { violations } from '../support/accessibility.ts'
import { hasChromium, launchChromium, phone } from '../support/chromium.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const page = (path: string): string => pathToFileURL(join(root, 'site', path)).href
const about = 'requirements/jobs.create/404-unknown-application.html'

beforeAll(() => void execFileSync('npm', ['run', '--silent', 'site'], { cwd: root }))

test('npm run site shows what is sent for a requirement, seen by judging the reference', () => {
  const text = readFileSync(join(root, 'site', about), 'utf8')
  expect(text).toContain('with a valid request, but an unknown application_id')
  expect(text).toMatch(/<del>- POST [^<]*<\/del>\n<ins>\+ POST /)
})

const isThere = hasChromium('the site')
let browser: Browser | undefined
beforeAll(async () => {
  if (isThere) browser = await launchChromium()
})
afterAll(() => browser?.close())

test.skipIf(!isThere).each(['light', 'dark'] as const)(
  'axe finds nothing, and nobody else is asked: %s',
  async (colorScheme) => {
    const tab = await browser!.newPage({ colorScheme })
    const asked: string[] = []
    tab.on('request', (request) => asked.push(request.url()))
    for (const path of ['index.html', about, 'docs/target-file.html']) {
      await tab.goto(page(path))
      expect(await violations(tab), path).toEqual([])
    }
    expect(asked.filter((url) => !/^(file|data):/.test(url))).toEqual([])
    await tab.close()
  },
)

test.skipIf(!isThere)('the search works from a folder, by keys', async () => {
  const tab = await browser!.newPage()
  await tab.goto(page(about))
  await tab.keyboard.press('/')
  await tab.keyboard.type('quota exceeded translate')
  await tab.waitForSelector('#found li')
  expect(await violations(tab, 'of structure')).toEqual([])
  await Promise.all([
    tab.waitForURL(page('requirements/translate.run/429-quota-exceeded.html')),
    tab.keyboard.press('Enter'),
  ])
  await tab.close()
})

test.skipIf(!isThere)('a phone shows it without scrolling aside', async () => {
  const tab = await browser!.newPage({ viewport: phone })
  for (const path of ['index.html', about, 'docs/command-line.html']) {
    await tab.goto(page(path))
    expect(await tab.evaluate('document.documentElement.scrollWidth'), path).toBeLessThanOrEqual(
      phone.width,
    )
  }
  await tab.close()
})
