import { existsSync } from 'node:fs'
import { type Browser, type BrowserContextOptions, chromium } from 'playwright-core'
import { onTestFinished } from 'vitest'

const executablePath = '/usr/bin/chromium'
const args =
  '--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update --disable-sync'

/** Whether there is a Chromium to look at pages with; if not, stderr has what is not looked at. */
export function hasChromium(what: string): boolean {
  const isInstalled = existsSync(executablePath)
  if (!isInstalled)
    process.stderr.write(
      `SKIPPED: ${what} is not looked at in a browser, ${executablePath} is not there\n`,
    )
  return isInstalled
}

/** Playwright waits for 30 s for what comes within some 300 ms on an idle machine. */
export function launchChromium(): Promise<Browser> {
  return chromium.launch({ executablePath, args: args.split(' ') })
}

/** A page opened for the test that is running; what the console said and which addresses were asked for. */
export async function openPage(browser: Browser, address: string, options: BrowserContextOptions) {
  const context = await browser.newContext(options)
  onTestFinished(() => context.close())
  const page = await context.newPage()
  const said: string[] = []
  const asked: string[] = []
  page.on('console', (message) => said.push(message.text()))
  page.on('pageerror', (error) => said.push(String(error)))
  page.on('request', (request) => asked.push(request.url()))
  await page.goto(address)
  return { page, context, said, asked }
}

/** The window of a phone. */
export const phone = { width: 390, height: 844 } satisfies BrowserContextOptions['viewport']
