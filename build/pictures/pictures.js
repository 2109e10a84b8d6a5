// npm run pictures: makes the pictures of the README anew, from runs against the reference server. Needs Chromium for the page.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createJiti } from 'jiti'
import { chromium } from 'playwright-core'

const dir = fileURLToPath(new URL('../../docs/pictures', import.meta.url))
const { pictures } = await createJiti(import.meta.url).import('./pictures.ts')
const { page, svg } = await pictures()
mkdirSync(dir, { recursive: true })
for (const [name, text] of Object.entries(svg)) writeFileSync(join(dir, name), text)
const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu'] })
const tab = await browser.newPage({ viewport: { width: 1100, height: 860 }, colorScheme: 'light' })
await tab.setContent(page)
await tab.screenshot({ path: join(dir, 'report.png') })
await browser.close()
