import { suite } from '../harness/checks/suite.ts'
import { eachAccepted, malformedName } from './created/created-object.ts'
import { named } from './created/creators.ts'
import { noEffect, once, onceAtOnce, ownId } from './created/relations.ts'
import { usable } from './created/usable.ts'

const graphs = named('graphs.create')

// Create a graph (§4.4, §7.3)

export const graphsCreate = suite('graphs.create', {
  '2xx-accepted': eachAccepted,
  '2xx-usable': usable('graphs.create'),
  '2xx-own-id': ownId('graphs.create'),
  '4xx-no-effect': noEffect(graphs),
  '400-atomic': onceAtOnce(graphs),
  '400-malformed-parameters': malformedName,
  '400-duplicate-name': once(graphs),
})
