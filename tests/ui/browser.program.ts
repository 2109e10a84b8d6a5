import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { folder, targetFile } from '../cli/conform.ts'
import { reference } from '../cli/reference.ts'
import { thinOut, violations } from '../support/accessibility.ts'
import { hasChromium, launchChromium, openPage, phone } from '../support/chromium.ts'
import { startPage } from './page.ts'

const isInstalled = hasChromium('the page of conform ui')

const broken = 'files.retrieve/404-unknown-file'
const only = ['--only', 'files.retrieve/*', '--runs', '1']

const ended = (page: Page) => page.locator('#now', { hasText: /^Ended at/ }).waitFor()
const focused = (page: Page) =>
  page.evaluate('document.activeElement.dataset.run ?? document.activeElement.dataset.do')

describe.skipIf(!isInstalled)('the page of conform ui in Chromium', () => {
  let browser: Browser | undefined
  beforeAll(async () => {
    browser = await launchChromium()
  })
  afterAll(() => browser?.close())

  /** The page of a target that fails one requirement, opened; what the console said and which addresses were asked for. */
  async function open(options: BrowserContextOptions = {}) {
    const target = await reference({ defects: [broken] })
    const cwd = folder()
    const { url, ui } = await startPage(['-t', targetFile(cwd, target.url), ...only], cwd)
    const { page, said, asked } = await openPage(browser!, url, options)
    return { page, url, ui, target, said, asked }
  }

  test('has nothing against it for accessibility, light or dark, wide or on a phone', async () => {
    const { page, said, asked, url } = await open({ colorScheme: 'light' })
    await ended(page)
    await page.locator('#list .r[open] .reading summary').first().click()
    const fits = async (where: string) => {
      const width = await page.evaluate(
        'document.documentElement.scrollWidth - document.documentElement.clientWidth',
      )
      expect(width, where).toBe(0)
    }
    expect(await violations(page, 'of structure'), 'all rows').toEqual([])
    await fits('wide')
    const wide = page.viewportSize()!
    await page.setViewportSize(phone)
    await fits('on a phone')

    await thinOut(page, '#list .r')
    expect(await violations(page), 'on a phone').toEqual([])
    await page.emulateMedia({ colorScheme: 'dark' })
    expect(await violations(page, 'of colours'), 'on a phone, dark').toEqual([])
    await page.setViewportSize(wide)
    expect(await violations(page, 'of colours'), 'dark').toEqual([])
    await page.emulateMedia({ colorScheme: 'light' })
    expect(await violations(page), 'light').toEqual([])
    expect(said).toEqual([])
    expect(
      asked.filter((address) => !address.startsWith(url) && !address.startsWith('data:')),
    ).toEqual([])
  })

  test('fills in while the run goes on, and says at the end what came of it', async () => {
    const { page } = await open()
    const cell = page.locator(`.cell[href="#${broken}"]`)
    await expect.poll(() => cell.getAttribute('aria-label')).toBe('404-unknown-file (must): failed')
    await ended(page)
    expect(await page.getByRole('status').first().textContent()).toMatch(
      /^The run has ended\. Non-conformant: 1 of \d+ selected musts failed/,
    )
    expect(await page.locator('#verdict .word').textContent()).toBe('Non-conformant')
    expect(await page.locator('#failed').textContent()).toContain(broken)
    const row = page.locator(`[id="${broken}"]`)
    expect(await row.getAttribute('open')).not.toBeNull()
    for (const text of [
      '404 ResourceNotFound',
      'curl ',
      '$CONFORM_API_KEY',
      'How the interface is read here',
    ]) {
      await expect.poll(() => row.textContent()).toContain(text)
    }
    expect(await page.locator('#progress').isVisible()).toBe(false)
  })

  test('is used by keyboard alone: a failure is sent again, and the focus stays', async () => {
    const { page, target } = await open()
    await ended(page)
    const tabTo = async (what: string): Promise<void> => {
      for (let steps = 0; steps < 40 && (await focused(page)) !== what; steps++)
        await page.keyboard.press('Tab')
      expect(await focused(page)).toBe(what)
    }
    await tabTo('failed')
    await page.keyboard.press('Enter')
    await page.locator('#now', { hasText: '0 newly failed, 0 newly passed' }).waitFor()
    expect(await focused(page)).toBe('failed')

    // From the failure's link to its row, whose first button sends it again.
    await page.locator('#failed a').first().focus()
    await page.keyboard.press('Enter')
    await expect.poll(() => page.evaluate('location.hash')).toBe(`#${broken}`)
    await tabTo(broken)
    await target.close()
    await page.locator('#now', { hasText: 'The target takes no requests.' }).waitFor()
    await reference({ port: Number(new URL(target.url).port) })
    await page.locator('#now', { hasText: '1 newly passed' }).waitFor()
    expect(await focused(page)).toBe(broken)
    expect(await page.locator('#changes').textContent()).toContain(`Newly passed 1${broken}`)
    expect(await page.locator(`.cell[href="#${broken}"]`).getAttribute('aria-label')).toMatch(
      /passed$/,
    )
    expect(await page.locator('[data-do=failed]').getAttribute('aria-disabled')).toBe('true')
  })

  test('goes through the list by keys, keeps the filter in the address, and runs what it shows', async () => {
    const { page } = await open()
    await ended(page)
    expect(await page.title()).toMatch(/^✗ 1 failed: /)
    expect(await page.locator('#icon').getAttribute('href')).toContain('a8261c')
    await page.keyboard.press('f')
    const shown = page.locator('#list .r:visible')
    expect(await shown.count()).toBe(1)
    // The page itself knows its address at once; the driver hears of it a moment later.
    const search = () => page.evaluate('location.search')
    expect(await search()).toBe('?hide=passed%2Cnot-exercised%2Cnot-applicable%2Cleft-out')
    // Beside the list: what was sent is on the right of it, and on a time line.
    const sent = page.locator(`[id="${broken}"] .sent`)
    await sent.locator('svg.line rect').first().waitFor()
    expect((await sent.boundingBox())!.x).toBeGreaterThan((await shown.boundingBox())!.x + 400)
    await page.keyboard.press('f')
    await page.keyboard.press('/')
    await page.keyboard.type('404-unknown')
    expect(await search()).toBe('?q=404-unknown')
    const matching = await shown.count()
    await page.reload()
    expect(await shown.count()).toBe(matching)
    await page.getByRole('button', { name: `Run the ${matching} shown` }).click()
    await page.locator(`[id="${broken}"] .change`, { hasText: 'still failed' }).waitFor()
    // What comes at the end of a run is put in the place of rows, too.
    await ended(page)
    // Keys go from row to row, one of which is open; none of them is heard in the search.
    await page.locator('#find').fill('')
    await page.locator('#now').click()
    const openRows = page.locator('#list .r[open]')
    // The row before it closes in a later turn.
    const one = () => expect.poll(() => openRows.count()).toBe(1)
    await page.keyboard.press('k')
    await one()
    const before = await openRows.getAttribute('id')
    await page.keyboard.press('j')
    await one()
    const named = await openRows.getAttribute('id')
    expect(named).not.toBe(before)
    // The address names what is shown, and what is loaded again is that.
    const hash = () => page.evaluate('decodeURIComponent(location.hash.slice(1))')
    expect(await hash()).toBe(named)
    await page.reload()
    await one()
    expect(await openRows.getAttribute('id')).toBe(named)
    await page.goto(`${page.url().split('#')[0]}#${encodeURIComponent(broken)}`)
    await page.reload()
    await one()
    expect(await openRows.getAttribute('id')).toBe(broken)
    await page.locator('.keys summary').click()
    await page.locator('#use-keys').uncheck()
    const after = await openRows.getAttribute('id')
    await page.locator('#now').click()
    await page.keyboard.press('j')
    expect(await openRows.getAttribute('id')).toBe(after)
    await page.locator(`[id="${after}"] a[href^="?q="]`).first().click()
    expect(await page.locator('#find').inputValue()).toMatch(/^§/)
  })

  test('a page that is loaded again shows the same, and one whose conform has ended says so', async () => {
    const { page, ui } = await open()
    const shown = async () => {
      await ended(page)
      // What was sent for the row that is open comes by a request of its own.
      await page.locator('#list .r[open] .sent', { hasText: 'curl ' }).waitFor()
      return page.locator('main').innerText()
    }
    const before = await shown()
    await page.reload()
    expect(await shown()).toBe(before)
    ui.child.kill('SIGINT')
    await page.locator('#now', { hasText: 'conform does not answer any more' }).waitFor()
    for (const button of await page.locator('[data-do]:visible').all())
      expect(await button.getAttribute('aria-disabled')).toBe('true')
    expect(await page.getByRole('heading', { name: 'Non-conformant' }).count()).toBe(1)
    expect((await ui.ended).code).toBe(0)
  })
})
