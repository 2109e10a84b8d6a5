import { operations } from '../../catalogue/operations.ts'
import { cellsOf, type Part } from '../../tests/spec/fault-matrix.ts'

const headings: Readonly<Record<Part, string>> = {
  keys: 'a key',
  bodies: 'a body as a whole',
  members: 'a member',
  ids: 'an id',
}

/** Every cell: what is wrong, and the requirement, or the reason why it is never sent. */
export function faultMatrixCells() {
  return operations.flatMap(({ id }) =>
    (Object.keys(headings) as Part[]).flatMap((part) =>
      cellsOf(id)[part].map((cell) => ({ ...cell, kind: headings[part] })),
    ),
  )
}

/** The page, on which a component of the site shows and filters the cells. */
export const faultMatrixPage = `# The fault matrix

Every kind of fault of a request, and at every place where it can be, is a case of a requirement or has a reason why it is never sent. A test holds this page against what a run sends.

<FaultMatrix />
`
