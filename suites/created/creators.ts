import type { Pairs } from '../../catalogue/pairs.ts'
import { type OperationId, operation } from '../../catalogue/operations.ts'
import { operationProbe } from '../../harness/engine/operation-probe.ts'
import { NotExercised } from '../../harness/engine/outcome.ts'
import type { Probe } from '../../harness/engine/probe.ts'
import type { Run } from '../../harness/engine/run.ts'
import { pointerOf } from '../../harness/checks/roles.ts'
import { upload, uploadProbe, withOwnContent } from '../../harness/checks/upload.ts'
import { additionOf, contentOf, declaredResource, validRequest } from '../../harness/checks/valid-request.ts'

/** An operation that makes something which may exist once: a name, a file in a graph. */
export interface Creator {
  readonly operation: OperationId
  /** A creation of something that does not exist yet, fresh each time. */
  fresh(run: Run): Promise<Probe>
  /** What answers the creation of something that exists. */
  readonly exists: Pairs
  /** `a graph`; `the same name`: what may exist once. */
  readonly what: string
  readonly same: string
}

/** Its objects have names, and no two of them one. */
export function named(id: 'graphs.create' | 'applications.create'): Creator {
  return {
    operation: id,
    fresh: (run) => validRequest(run, id),
    exists: [[400, 'BadRequest']],
    what: operation(id).creates?.what ?? 'an object',
    same: 'the same name',
  }
}

/** A file of its own content, freshly uploaded, is added to the declared graph. */
export const additions: Creator = {
  operation: 'graphs.add-file',
  async fresh(run) {
    const pointer = pointerOf(run, 'graphs.add-file', 'file')
    if (pointer === undefined) throw new NotExercised('declare operations.graphs.add-file.fields.file')
    const own = await upload(run, withOwnContent(run, contentOf(run))).catch((error: unknown) => {
      if (!(error instanceof NotExercised) || run.life.ended) throw error
      // A format may refuse what is added to it.
      return upload(run, contentOf(run))
    })
    return addition(run, declaredResource(run, 'graph'), own)
  },
  exists: [[409, 'BadRequest']],
  what: 'a file in a graph',
  same: 'the same file',
}

/** An addition of that file to that graph; the declared body if it is not said where a file stands in it. */
export function addition(run: Run, graph: string, file: string): Promise<Probe> {
  const pointer = pointerOf(run, 'graphs.add-file', 'file') ?? ''
  const json = additionOf(run, file, pointer)
  return operationProbe(run, 'graphs.add-file', { params: { graph_id: graph }, json, effect: 'creates' })
}

/** A creation whose object differs from every other one of the run. */
export async function distinctCreation(run: Run, id: OperationId): Promise<Probe> {
  return id === 'files.upload' ? uploadProbe(run, withOwnContent(run, contentOf(run))) : validRequest(run, id)
}
