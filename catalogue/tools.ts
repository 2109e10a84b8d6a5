import { accepted, byScenario, noAccess, requirements, valid } from './requirement.ts'
import { anyBadRequest, oversized } from './answers.ts'

// oxfmt-ignore
export const tools = {
  'ai-detect.run': requirements('ai-detect.run', [
    accepted('A valid request'),
    { id: '400-empty-text', needs: [valid, '{text}'], expects: [[400, 'BadRequest']], refused: 'An empty text' },
    { id: '400-malformed-text', needs: [valid, '{text}'], expects: [[400, 'BadRequest']], refused: 'A text that is not a string' },
    byScenario('400-text-too-long', oversized, 'A text over the maximum length', '7.3, 8'),
  ]),

  'web-search.run': requirements('web-search.run', [
    accepted('A valid request'),
    { id: '400-empty-query', needs: [valid, '{query}'], expects: [[400, 'BadRequest']], refused: 'An empty query' },
    { id: '400-malformed-query', needs: [valid, '{query}'], expects: [[400, 'BadRequest']], refused: 'A query that is not a string' },
    byScenario('400-query-too-long', oversized, 'A query over the maximum length', '7.3, 8'),
    byScenario('503-search-down', [[503, 'InternalError']], 'While the external search service is down, a request'),
  ]),

  'medical.comprehend': requirements('medical.comprehend', [
    { id: '200-entities', section: '2.8', expects: '2xx',
      statement: 'A request with response_type Entities returns a 2xx whose entities have category, text, score and traits.', control: true },
    { id: '400-malformed-request', level: 'should', section: '2.8, 7.2', needs: [valid, '{content}'], expects: anyBadRequest,
      statement: 'A content or response_type that is not a string gets 400.' },
  ]),

  'translate.run': requirements('translate.run', [
    accepted('A valid request'),
    { id: '400-unsupported-language', needs: [valid, ['{source}', '{target}']], expects: [[400, 'BadRequest']],
      refused: 'An unsupported source or target language' },
    { id: '400-empty-text', needs: [valid, '{text}'], expects: [[400, 'InvalidInputParameters']], refused: 'An empty text' },
    { id: '400-malformed-text', needs: [valid, '{text}'], expects: [[400, 'InvalidInputParameters', 'BadRequest']],
      refused: 'A text that is not a string' },
    byScenario('400-text-too-long', oversized, 'A text over the maximum length', '7.3, 8'),
    byScenario('503-unavailable', [[503, 'InternalError']], 'While translation is unavailable, a request'),
  ]),

  'vision.analyze': requirements('vision.analyze', [
    accepted('A valid request'),
    { id: '4xx-unknown-file', section: '7.2', needs: [valid, '{variables}'], expects: [['4xx']],
      refused: 'A variable whose file does not exist or was deleted' },
    { id: '400-malformed-request', level: 'should', section: '2.8, 7.2', needs: [valid, ['{prompt}', '{variables}']], expects: anyBadRequest,
      statement: 'A prompt that is not a string, or variables that are not an array of {name, file_id} strings, get 400.' },
    byScenario('403-model-access', [[403, 'InsufficientAccessRights']], 'A model that the key may not access', '5'),
    noAccess('403-file-access', 'A file'),
    byScenario('400-unsupported-image', [[400, 'BadRequest']], 'An image of an unsupported type'),
    byScenario('400-oversized-image', oversized, 'An image over the size limits', '7.3, 8'),
    byScenario('400-corrupted-image', [[400, 'InvalidContentType']], 'A corrupted image'),
    byScenario('503-unavailable', [[503, 'InternalError']], 'While vision is unavailable, a request'),
  ]),
}
