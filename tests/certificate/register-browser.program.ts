import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { violations, type Rules } from '../support/accessibility.ts'
import { hasChromium, launchChromium, phone } from '../support/chromium.ts'
import { sampleRegister } from './registered.ts'

const isInstalled = hasChromium('the register')

describe.skipIf(!isInstalled)('the register in Chromium', () => {
  let browser: Browser | undefined
  let site: string

  beforeAll(async () => {
    const made = await sampleRegister()
    made.build()
    site = made.out
    browser = await launchChromium()
  })

  afterAll(() => browser?.close())

  test('has nothing serious against it for accessibility, and fits, light or dark, wide or on a phone', async () => {
    const context = await browser!.newContext({ colorScheme: 'light' })
    onTestFinished(() => context.close())
    const page = await context.newPage()
    const said: string[] = []
    page.on('console', (message) => said.push(message.text()))
    page.on('pageerror', (error) => said.push(String(error)))
    const wide = page.viewportSize()!
    const look = async (name: string, rules: Rules) => {
      const folder = process.env['CONFORM_SCREENSHOTS']
      if (folder !== undefined)
        await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true })
      const found = await violations(page, rules)
      const serious = found.filter(({ impact }) => impact === 'serious' || impact === 'critical')
      expect(serious, name).toEqual([])
      const { width } = page.viewportSize()!
      expect(await page.evaluate('document.documentElement.scrollWidth'), name).toBeLessThanOrEqual(
        width,
      )
    }
    const lookEveryWay = async (name: string) => {
      await look(`${name} light`, 'all')
      await page.emulateMedia({ colorScheme: 'dark' })
      await look(`${name} dark`, 'of colours')
      await page.setViewportSize(phone)
      await page.emulateMedia({ colorScheme: 'light' })
      await look(`${name} on a phone`, 'all')
      await page.setViewportSize(wide)
    }

    await page.goto(pathToFileURL(join(site, 'index.html')).href)
    await lookEveryWay('list')
    await page.getByRole('link', { name: 'Partial' }).click()
    await lookEveryWay('service')
    expect(said).toEqual([])
    await page.getByRole('link', { name: 'Certified services' }).click()
    expect(await page.title()).toBe('Certified services')
  })
})
