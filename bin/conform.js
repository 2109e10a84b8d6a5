#!/usr/bin/env node
import { setFlagsFromString } from 'node:v8'
import { listenForInterrupts } from './interrupts.js'

// Before anything else: loading takes a moment, and a signal must not go unheard for so long.
const interrupts = listenForInterrupts()
// A run is short: much of what V8 of Node.js 20 optimizes never pays for itself (docs/performance.md). Later ones wait longer.
if (process.versions.v8.startsWith('11.')) setFlagsFromString('--interrupt-budget=500000')
const { main } = await import('../dist/conform.js')
await main(process.argv, interrupts)
