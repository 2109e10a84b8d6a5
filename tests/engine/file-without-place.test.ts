import { expect, test } from 'vitest'
import type { TargetFile } from '../../harness/target/model.ts'
import { judge } from './networks.ts'

const id = 'graphs.add-file'

test('no file without an id is asked for where nobody says which member names the file', async () => {
  const paths: string[] = []
  const { failed } = await judge([`${id}/409-*`], {
    change: (file: TargetFile) => {
      const { fields: _fields, ...own } = Object(file.operations?.[id]) as { fields?: object }
      return { ...file, operations: { ...file.operations, [id]: own } }
    },
    way(request, send) {
      paths.push(request.path)
      return send()
    },
  })
  expect(failed).toEqual([])
  expect(paths.filter((path) => path === '/v1/files/')).toEqual([])
})
