import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { chromium, type Browser, type BrowserContextOptions } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { sampleRegister } from './registered.ts'

const executablePath = '/usr/bin/chromium'
const isInstalled = existsSync(executablePath)
if (!isInstalled)
  process.stderr.write(`SKIPPED: the register is not looked at in a browser, ${executablePath} is not there\n`)

const args = '--no-sandbox --disable-gpu --no-first-run --disable-background-networking --disable-component-update'
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

describe.skipIf(!isInstalled)('the register in Chromium', { timeout: 60_000 }, () => {
  let browser: Browser | undefined
  let site: string

  beforeAll(async () => {
    const made = await sampleRegister()
    made.build()
    site = made.out
    browser = await chromium.launch({ executablePath, args: args.split(' ') })
  }, 60_000)

  afterAll(() => browser?.close())

  async function open(options: BrowserContextOptions = {}) {
    const context = await browser!.newContext(options)
    onTestFinished(() => context.close())
    const page = await context.newPage()
    const said: string[] = []
    page.on('console', (message) => said.push(message.text()))
    page.on('pageerror', (error) => said.push(String(error)))
    await page.goto(pathToFileURL(join(site, 'index.html')).href)
    const violations = async () => {
      await page.evaluate(axe)
      const found = await page.evaluate(
        `axe.run({ runOnly: ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa', 'best-practice'] })
          .then(({ violations }) => violations.map(({ id, impact, nodes }) => ({ id, impact, first: nodes[0].html })))`,
      )
      return (found as { impact: string }[]).filter(({ impact }) => impact === 'serious' || impact === 'critical')
    }
    const look = async (name: string) => {
      const folder = process.env['CONFORM_SCREENSHOTS']
      if (folder !== undefined) await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true })
    }
    return { page, said, violations, look }
  }

  test.each<[string, BrowserContextOptions]>([
    ['light', { colorScheme: 'light' }],
    ['dark', { colorScheme: 'dark' }],
    ['on a phone', { viewport: { width: 390, height: 844 } }],
  ])('has nothing serious against it for accessibility, and fits, %s', async (name, options) => {
    const { page, said, violations, look } = await open(options)
    const width = page.viewportSize()!.width
    await look(`list ${name}`)
    expect(await violations()).toEqual([])
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width)
    await page.getByRole('link', { name: 'Partial' }).click()
    await look(`service ${name}`)
    expect(await violations()).toEqual([])
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width)
    expect(said).toEqual([])
    await page.getByRole('link', { name: 'Certified services' }).click()
    expect(await page.title()).toBe('Certified services')
  })
})
