#!/usr/bin/env node
// Plain Node 20 loads no TypeScript, and the package has no build step: jiti does, and keeps what it compiled.
import { setFlagsFromString } from 'node:v8'
import { listenForInterrupts } from './interrupts.js'

const interrupts = listenForInterrupts()

// A worker judges thousands of short-lived answers, some of megabytes: a small young generation and an old one that grows
// slowly hold the memory of the whole process near what is in use, at a tenth more time.
setFlagsFromString('--max-semi-space-size=4')
setFlagsFromString('--heap-growing-percent=25')
setFlagsFromString('--optimize-for-size')

// Whatever is imported above is loaded before the first line here is run.
const { createJiti } = await import('jiti')
const { cacheFolder } = await import('./cache-folder.js')
const jiti = createJiti(import.meta.url, { fsCache: cacheFolder() })
const { main } = await jiti.import('../cli/index.ts')
await main(process.argv, interrupts)
