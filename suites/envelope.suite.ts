import { passiveRows } from '../harness/passive/envelope-watch.ts'
import { judgeSighting } from '../harness/words/judge-sighting.ts'
import { requirement, should } from '../harness/words/registry.ts'
import { judgeUnknownPath, judgeUnsupportedMethod } from './envelope/elsewhere.ts'

// §2.6, §7.1 to §7.4: one error format for every operation

for (const row of passiveRows) requirement(row, judgeSighting(row))

should('envelope/unknown-path', judgeUnknownPath)
should('envelope/unsupported-method', judgeUnsupportedMethod)
