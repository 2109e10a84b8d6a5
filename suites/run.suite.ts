import './all.ts'
import { runInVitest } from '../harness/run/vitest-adapter.ts'

runInVitest()
