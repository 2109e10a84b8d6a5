#!/usr/bin/env node
// Plain Node 20 loads no TypeScript, and the package has no build step: jiti does, and keeps what it compiled.
import { createJiti } from 'jiti'

const jiti = createJiti(import.meta.url)
const { main } = await jiti.import('../cli/index.ts')
await main(process.argv)
