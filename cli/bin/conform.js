#!/usr/bin/env node
import { conform } from './run.js'

await conform()
