import './all.ts'
import { runInVitest } from '../harness/engine/vitest-adapter.ts'

runInVitest()
