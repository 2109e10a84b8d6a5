import { passiveRows } from '../harness/passive/envelope-watch.ts'
import { judgeSighting } from '../harness/words/judge-sighting.ts'
import { nothingMore, requirement, should } from '../harness/words/registry.ts'
import { judgeUnknownPath, judgeUnsupportedMethod, methods, postOnlyPaths } from './envelope/elsewhere.ts'

// §2.6, §7.1 to §7.4: one error format for every operation

for (const row of passiveRows) requirement(row, judgeSighting(row), nothingMore)

should('envelope/unknown-path', judgeUnknownPath, () => methods.length)
should('envelope/unsupported-method', judgeUnsupportedMethod, ({ target }) => postOnlyPaths(target).length)
