import { additionOf, bodyOf, contentOf } from '../harness/checks/valid-request.ts'
import { pointerOf } from '../harness/checks/roles.ts'
import { upload } from '../harness/checks/upload.ts'
import { operationProbe } from '../harness/engine/operation-probe.ts'
import type { Run } from '../harness/engine/run.ts'
import { usable, duplicateName, malformedName, eachAccepted } from './created/created-object.ts'
import { suite } from '../harness/checks/suite.ts'

/** The declared addition; with a fresh file if the target says how to upload one. */
async function addition(run: Run): Promise<unknown> {
  const pointer = pointerOf(run, 'graphs.add-file', 'file')
  const uploads = run.target.operations['files.upload']?.content !== undefined
  if (pointer === undefined || !uploads) return bodyOf(run, 'graphs.add-file')
  return additionOf(run, await upload(run, contentOf(run)), pointer)
}

/** A query of a created graph; an addition to it if no query is declared. */
const judgeUsableGraph = usable({
  creates: 'graphs.create',
  what: 'of a graph that was just created',
  async request(run, id) {
    const params = { graph_id: id }
    if (run.target.operations['graphs.query']?.body !== undefined) {
      return operationProbe(run, 'graphs.query', { params, json: bodyOf(run, 'graphs.query'), effect: 'generates' })
    }
    return operationProbe(run, 'graphs.add-file', { params, json: await addition(run), effect: 'creates' })
  },
})

// Create a graph (§4.4, §7.3)

export const graphsCreate = suite('graphs.create', {
  '2xx-accepted': eachAccepted,
  '2xx-usable': judgeUsableGraph,
  '400-malformed-parameters': malformedName,
  '400-duplicate-name': duplicateName,
})
