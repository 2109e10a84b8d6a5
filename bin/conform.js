#!/usr/bin/env node
import { listenForInterrupts } from './interrupts.js'

// Before anything else: loading takes a moment, and a signal must not go unheard for so long.
const interrupts = listenForInterrupts()
const { main } = await import('../dist/conform.js')
await main(process.argv, interrupts)
