#!/usr/bin/env node
// Plain Node 20 loads no TypeScript, and the package has no build step: jiti does, and keeps what it compiled.
import { setFlagsFromString } from 'node:v8'
import { createJiti } from 'jiti'
import { cacheFolder } from './cache-folder.js'

// A worker judges thousands of short-lived answers: a small young generation keeps its memory low at no cost in time.
setFlagsFromString('--max-semi-space-size=4')

const jiti = createJiti(import.meta.url, { fsCache: cacheFolder() })
const { main } = await jiti.import('../cli/index.ts')
await main(process.argv)
