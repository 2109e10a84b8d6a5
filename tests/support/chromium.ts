import { existsSync } from 'node:fs'
import { type Browser, type BrowserContextOptions, chromium } from 'playwright-core'

const executablePath = '/usr/bin/chromium'
const args =
  '--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update --disable-sync'

/** Whether there is a Chromium to look at pages with; if not, stderr has what is not looked at. */
export function hasChromium(what: string): boolean {
  const isInstalled = existsSync(executablePath)
  if (!isInstalled)
    process.stderr.write(`SKIPPED: ${what} is not looked at in a browser, ${executablePath} is not there\n`)
  return isInstalled
}

/** Playwright waits for 30 s for what comes within some 300 ms on an idle machine. */
export function launchChromium(): Promise<Browser> {
  return chromium.launch({ executablePath, args: args.split(' ') })
}

/** The window of a phone. */
export const phone = { width: 390, height: 844 } satisfies BrowserContextOptions['viewport']
