import { passiveRows } from '../harness/checks/envelope-watch.ts'
import { judgeSighting } from '../harness/checks/judge-sighting.ts'
import { nothingMore, requirement, should } from '../harness/checks/registry.ts'
import { judgeUnknownPath, judgeUnsupportedMethod, methods, postOnlyPaths } from './envelope/elsewhere.ts'

// §2.6, §7.1 to §7.4: one error format for every operation

for (const row of passiveRows) requirement(row, judgeSighting(row), nothingMore)

should('envelope/unknown-path', judgeUnknownPath, () => methods.length)
should('envelope/unsupported-method', judgeUnsupportedMethod, ({ target }) => postOnlyPaths(target).length)
