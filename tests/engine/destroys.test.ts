import { expect, test } from 'vitest'
import type { Operation } from '../../catalogue/operation.ts'
import { operation, type OperationId } from '../../catalogue/operations.ts'
import type { Run } from '../../harness/run/run.ts'
import { judge } from './networks.ts'

const destroying: OperationId = 'files.retrieve'

/** As if the interface destroyed what it reads. */
const asDestroying = (run: Run): void => {
  const changed: Operation = { ...operation(destroying), effect: 'destroys' }
  Object.assign(run.api, {
    ...run.api,
    operation: (id: OperationId) => (id === destroying ? changed : operation(id)),
  })
}

test('a request that destroys never names an object that the target file declares', async () => {
  const sent: string[] = []
  let restore = (): void => undefined
  const { of, run } = await judge([`${destroying}/2xx-accepted`, `${destroying}/401-*`], {
    prepare(run) {
      const { operation: before } = run.api
      restore = () => void Object.assign(run.api, { operation: before })
      asDestroying(run)
    },
    way(request, send, { probe }) {
      if (probe?.operation === destroying) sent.push(request.path)
      return send()
    },
  }).finally(() => restore())
  expect(of(`${destroying}/2xx-accepted`)).toMatchObject({
    outcome: 'not-exercised',
    reason: expect.stringContaining(`${destroying} would destroy`),
  })
  const declared = String(run.target.resources.file)
  expect(sent.filter((path) => path.includes(declared))).toEqual([])
})
