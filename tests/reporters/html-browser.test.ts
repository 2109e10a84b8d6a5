import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { renderHtml } from '../../reporters/html.ts'
import { joined, sampleExchanges } from './sample-exchanges.ts'
import { mixed, sampleReport } from './sample-report.ts'

const executablePath = '/usr/bin/chromium'
const isInstalled = existsSync(executablePath)
if (!isInstalled) {
  process.stderr.write(`SKIPPED: the HTML report is not looked at in a browser, ${executablePath} is not there\n`)
}

const args =
  '--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update --disable-sync'
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const report = sampleReport({ end: mixed, run: { throttled: 3, readOnly: true } })
const failedRow = '#list .r[data-o=failed]'

describe.skipIf(!isInstalled)('the HTML report in Chromium', { timeout: 60_000 }, () => {
  let browser: Browser | undefined
  let address: string
  let directory: string

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'conform-'))
    const file = join(directory, 'report.html')
    writeFileSync(file, await joined(renderHtml(report, sampleExchanges(report, 600))))
    address = pathToFileURL(file).href
    browser = await chromium.launch({ executablePath, args: args.split(' ') })
  }, 60_000)

  afterAll(async () => {
    await browser?.close()
    rmSync(directory, { recursive: true, force: true })
  })

  /** The report opened; what the console said and which addresses were asked for. */
  async function open(options: BrowserContextOptions = {}, hash = '') {
    const context = await browser!.newContext(options)
    onTestFinished(() => context.close())
    const page = await context.newPage()
    const said: string[] = []
    const asked: string[] = []
    page.on('console', (message) => said.push(message.text()))
    page.on('pageerror', (error) => said.push(String(error)))
    page.on('request', (request) => asked.push(request.url()))
    await page.goto(address + hash)
    return { page, context, said, asked }
  }

  async function violations(page: Page) {
    await page.evaluate(axe)
    const found = await page.evaluate(
      `axe.run({ runOnly: ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa', 'best-practice'] })
        .then(({ violations }) => violations.map(({ id, impact, nodes }) => ({ id, impact, first: nodes[0].html })))`,
    )
    return (found as { impact: string }[]).filter(({ impact }) => impact === 'serious' || impact === 'critical')
  }

  /** Leaves a few rows of each outcome: axe takes half a minute for three hundred, and they are alike. */
  async function showFew(page: Page): Promise<void> {
    await page.locator('#find').fill('chat.create')
    for (const outcome of new Set(report.requirements.map(({ outcome }) => outcome)))
      expect(await page.locator(`#list .r[data-o=${outcome}]:visible`).count(), outcome).toBeGreaterThan(0)
  }

  test.each(['light', 'dark'] as const)('has nothing serious against it for accessibility, %s', async (colorScheme) => {
    const { page } = await open({ colorScheme })
    if (colorScheme === 'dark') await showFew(page)
    await page.locator('#list .r[data-o=passed]:visible > summary').first().click()
    await page.locator('#list .r[data-o=passed]:visible .x > summary').first().click()
    expect(await violations(page)).toEqual([])
  })

  test('has nothing serious against it on a phone, and needs no sideways scrolling', async () => {
    const { page } = await open({ viewport: { width: 390, height: 844 } })
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390)
    await showFew(page)
    expect(await violations(page)).toEqual([])
  })

  test('asks for nothing but itself, and the console stays empty', async () => {
    const { page, said, asked } = await open()
    await page.locator('#find').fill('quota')
    await page.locator('#fold').click()
    expect(said).toEqual([])
    expect(asked.filter((url) => url !== address && !url.startsWith('data:'))).toEqual([])
  })

  test('is readable without JavaScript', async () => {
    const { page } = await open({ javaScriptEnabled: false })
    expect(await page.locator('#tools').isVisible()).toBe(false)
    expect(await page.locator('#list .r').count()).toBe(290)
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
    await page.locator('#level').selectOption('should')
    const shoulds = left.filter(({ level }) => level === 'should')
    expect(await shown()).toBe(shoulds.length)
    expect(await page.locator('#shown').textContent()).toBe(`${shoulds.length} of 290 shown`)
    await page.locator('#level').selectOption('')
    await page.locator('#tools input[value=passed]').check()
    await page.locator('#find').fill('chat.create QUOTA')
    expect(await shown()).toBe(1)
    expect(await page.locator('#list .r:visible').getAttribute('id')).toBe('chat.create/429-quota-exceeded')
    expect(await page.locator('#list .op:visible').count()).toBe(1)
  })

  test('copies what is to be run', async () => {
    const { page, context } = await open()
    await context.grantPermissions(['clipboard-read', 'clipboard-write'])
    const first = page.locator(failedRow).first()
    await first.getByRole('button', { name: 'Copy' }).nth(1).click()
    await first.getByRole('button', { name: 'Copied' }).waitFor()
    const failure = report.requirements.find(({ outcome }) => outcome === 'failed')!.failures[0]!
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(failure.exchange!.curl)
  })

  test('a link to a requirement opens it, also one that the filter hides', async () => {
    const { page } = await open({}, '#pdf.parse/401-missing-credentials')
    const row = page.locator('[id="pdf.parse/401-missing-credentials"]')
    expect(await row.getAttribute('open')).not.toBeNull()
    await page.locator('#find').fill('nothing has this')
    expect(await row.isVisible()).toBe(false)
    await page.locator('.cell[href="#jobs.create/401-missing-credentials"]').click()
    await page.locator('[id="jobs.create/401-missing-credentials"][open]').waitFor()
  })

  test('prints without its tools', async () => {
    const { page } = await open()
    await page.emulateMedia({ media: 'print' })
    expect(await page.locator('#tools').isVisible()).toBe(false)
    expect(await page.locator('#list .r > summary').first().isVisible()).toBe(true)
  })
})
