import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Browser, BrowserContextOptions } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { folder } from '../cli/conform.ts'
import { thinOut, violations } from '../support/accessibility.ts'
import { hasChromium, launchChromium, openPage, phone } from '../support/chromium.ts'
import { fails, inHtml, mixed, sampleExchanges, sampleReport } from './samples.ts'

const isInstalled = hasChromium('the HTML report')
const report = sampleReport({ end: mixed, run: { throttled: 3, readOnly: true } })
const total = report.requirements.length
const failedRow = '#list .r[data-o=failed]'

describe.skipIf(!isInstalled)('the HTML report in Chromium', () => {
  let browser: Browser | undefined
  let address: string
  const directory = folder()

  beforeAll(async () => {
    const file = join(directory, 'report.html')
    writeFileSync(file, await inHtml(report, sampleExchanges(report, total)))
    address = pathToFileURL(file).href
    browser = await launchChromium()
  })

  afterAll(() => browser?.close())

  /** The report opened; what the console said and which addresses were asked for. */
  const open = (options: BrowserContextOptions = {}, hash = '') =>
    openPage(browser!, address + hash, options)

  test('has nothing serious against it for accessibility, light or dark, wide or on a phone', async () => {
    const { page } = await open({ colorScheme: 'light' })
    const serious = async (rules?: Parameters<typeof violations>[1]) =>
      (await violations(page, rules)).filter(
        ({ impact }) => impact === 'serious' || impact === 'critical',
      )
    await page.locator('#list .r[data-o=passed]:visible > summary').first().click()
    await page.locator('#list .r[data-o=passed]:visible .x > summary').first().click()
    expect(await serious('of structure'), 'all rows').toEqual([])
    const wide = page.viewportSize()!
    await page.setViewportSize(phone)
    expect(
      await page.evaluate('document.documentElement.scrollWidth'),
      'needs no sideways scrolling',
    ).toBe(phone.width)

    await thinOut(page, '#list .r')
    for (const outcome of new Set(report.requirements.map(({ outcome }) => outcome)))
      expect(
        await page.locator(`#list .r[data-o=${outcome}]:visible`).count(),
        outcome,
      ).toBeGreaterThan(0)
    expect(await serious(), 'on a phone').toEqual([])
    await page.emulateMedia({ colorScheme: 'dark' })
    expect(await serious('of colours'), 'on a phone, dark').toEqual([])
    await page.setViewportSize(wide)
    expect(await serious('of colours'), 'dark').toEqual([])
    await page.emulateMedia({ colorScheme: 'light' })
    expect(await serious(), 'light').toEqual([])
  })

  test('many failures in operation after operation cover no button of each other', async () => {
    const file = join(directory, 'failures.html')
    const failing = sampleReport({ end: (at) => (at % 4 === 1 ? fails()() : {}) })
    writeFileSync(file, await inHtml(failing))
    const page = await browser!.newPage({ viewport: phone })
    onTestFinished(() => page.close())
    await page.goto(pathToFileURL(file).href)
    await thinOut(page, '#list .r')
    expect(await page.locator('#list .r[open] .copy').count()).toBeGreaterThan(20)
    expect(await violations(page, 'of targets')).toEqual([])
  })

  test('asks for nothing but itself, and the console stays empty', async () => {
    const { page, said, asked } = await open()
    await page.locator('#find').fill('quota')
    await page.locator('#list .r:visible > summary').first().click()
    expect(said).toEqual([])
    expect(asked.filter((url) => url !== address && !url.startsWith('data:'))).toEqual([])
  })

  test('is readable without JavaScript', async () => {
    const { page } = await open({ javaScriptEnabled: false })
    expect(await page.locator('#tools').isVisible()).toBe(false)
    expect(await page.locator('#list .r').count()).toBe(total)
    expect(await page.locator(`${failedRow} .evidence`).first().isVisible()).toBe(true)
    const passed = page.locator('#list .r[data-o=passed]').first()
    await passed.locator('> summary').click()
    await passed.locator('.x > summary').first().click()
    expect(await passed.locator('.x pre').first().isVisible()).toBe(true)
  })

  test('filters by outcome, level and words, and says how many are shown', async () => {
    const { page } = await open()
    const shown = () => page.locator('#list .r:visible').count()
    await page.locator('#tools input[value=passed]').uncheck()
    const left = report.requirements.filter(({ outcome }) => outcome !== 'passed')
    expect(await shown()).toBe(left.length)
    await page.locator('#find').fill('recommended')
    const shoulds = left.filter(({ level }) => level === 'should')
    expect(await shown()).toBe(shoulds.length)
    expect(await page.locator('#shown').textContent()).toBe(`${shoulds.length} of ${total} shown`)
    await page.locator('#tools input[value=passed]').check()
    await page.locator('#find').fill('jobs.create QUOTA')
    await expect.poll(shown).toBe(1)
    expect(await page.locator('#list .r:visible').getAttribute('id')).toBe(
      'jobs.create/429-quota-exceeded',
    )
    expect(await page.locator('#list .op:visible').count()).toBe(1)
  })

  test('copies a curl line', async () => {
    const { page, context } = await open()
    await context.grantPermissions(['clipboard-read', 'clipboard-write'])
    const first = page.locator(failedRow).first()
    const [id] = report.requirements.filter(({ outcome }) => outcome === 'failed')
    await first.getByRole('button', { name: 'Copy', exact: true }).nth(1).click()
    const { curl } = id!.failures[0]!.exchange!
    await expect.poll(() => page.evaluate('navigator.clipboard.readText()')).toBe(curl)
  })

  test('a link to a requirement opens it, also one that the filter hides', async () => {
    const { page } = await open({}, '#pdf.parse/401-missing-credentials')
    const row = page.locator('[id="pdf.parse/401-missing-credentials"]')
    expect(await row.getAttribute('open')).not.toBeNull()
    await page.locator('#find').fill('nothing has this')
    expect(await row.isVisible()).toBe(false)
    const [failed] = report.requirements.filter(({ outcome }) => outcome === 'failed')
    await page.locator(`.failures a[href="#${failed!.id}"]`).first().click()
    await page.locator(`[id="${failed!.id}"][open]`).waitFor()
  })

  test('prints without its tools, and without the rows that passed', async () => {
    const { page } = await open()
    await page.emulateMedia({ media: 'print' })
    expect(await page.locator('#tools').isVisible()).toBe(false)
    expect(await page.locator('#list .r[data-o=failed] > summary').first().isVisible()).toBe(true)
    expect(await page.locator('#list .r[data-o=not-exercised] > summary').first().isVisible()).toBe(
      true,
    )
    expect(await page.locator('#list .r[data-o=passed]:visible').count()).toBe(0)
  })
})
