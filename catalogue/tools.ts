import { accepted, scenario, requirements, valid } from './requirement.ts'
import { anyBadRequest, oversized } from './expected.ts'

// oxfmt-ignore
export const tools = {
  'ai-detect.run': requirements('ai-detect.run', [
    accepted('A valid request'),
    { id: '400-empty-text', section: '7.3', needs: [valid, '{text}'], expects: [[400, 'BadRequest']], refused: 'An empty text' },
    { id: '400-malformed-text', section: '7.3', needs: [valid, '{text}'], expects: [[400, 'BadRequest']], refused: 'A text that is not a string' },
    { id: '400-text-too-long', section: '7.3, 8', needs: [scenario], expects: oversized, refused: 'A text over the maximum length' },
  ]),

  'web-search.run': requirements('web-search.run', [
    accepted('A valid request'),
    { id: '400-empty-query', section: '7.3', needs: [valid, '{query}'], expects: [[400, 'BadRequest']], refused: 'An empty query' },
    { id: '400-malformed-query', section: '7.3', needs: [valid, '{query}'], expects: [[400, 'BadRequest']], refused: 'A query that is not a string' },
    { id: '400-query-too-long', section: '7.3, 8', needs: [scenario], expects: oversized, refused: 'A query over the maximum length' },
    { id: '503-search-down', section: '7.3', needs: [scenario], expects: [[503, 'InternalError']], refused: 'While the external search service is down, a request' },
  ]),

  'medical.comprehend': requirements('medical.comprehend', [
    { id: '200-entities', section: '2.8', needs: [valid], expects: '2xx',
      statement: 'A request with response_type Entities returns a 2xx whose entities have category, text, score and traits.', control: true },
    { id: '400-malformed-request', level: 'should', section: '2.8, 7.2', needs: [valid, '{content}'], expects: anyBadRequest,
      statement: 'A content or response_type that is not a string gets 400.' },
  ]),

  'translate.run': requirements('translate.run', [
    accepted('A valid request'),
    { id: '400-unsupported-language', section: '7.3', needs: [valid, ['{source}', '{target}']], expects: [[400, 'BadRequest']],
      refused: 'An unsupported source or target language' },
    { id: '400-empty-text', section: '7.3', needs: [valid, '{text}'], expects: [[400, 'InvalidInputParameters']], refused: 'An empty text' },
    { id: '400-malformed-text', section: '7.3', needs: [valid, '{text}'], expects: [[400, 'InvalidInputParameters', 'BadRequest']],
      refused: 'A text that is not a string' },
    { id: '400-text-too-long', section: '7.3, 8', needs: [scenario], expects: oversized, refused: 'A text over the maximum length' },
    { id: '503-unavailable', section: '7.3', needs: [scenario], expects: [[503, 'InternalError']], refused: 'While translation is unavailable, a request' },
  ]),

  'vision.analyze': requirements('vision.analyze', [
    accepted('A valid request'),
    { id: '4xx-unknown-file', section: '7.2', needs: [valid, '{variables}'], expects: [['4xx']],
      statement: 'A variable whose file does not exist or was deleted gets a 4xx (not 401 or 429) with an error envelope.' },
    { id: '400-malformed-request', level: 'should', section: '2.8, 7.2', needs: [valid, ['{prompt}', '{variables}']], expects: anyBadRequest,
      statement: 'A prompt that is not a string, or variables that are not an array of {name, file_id} strings, get 400.' },
    { id: '403-model-access', section: '5', needs: [scenario], expects: [[403, 'InsufficientAccessRights']], refused: 'A model that the key may not access' },
    { id: '403-file-access', section: '5', needs: [scenario], expects: [[403, 'InsufficientAccessRights']], refused: 'A file that the key may not access', times: 3 },
    { id: '400-unsupported-image', section: '7.3', needs: [scenario], expects: [[400, 'BadRequest']], refused: 'An image of an unsupported type' },
    { id: '400-oversized-image', section: '7.3, 8', needs: [scenario], expects: oversized, refused: 'An image over the size limits' },
    { id: '400-corrupted-image', section: '7.3', needs: [scenario], expects: [[400, 'InvalidContentType']], refused: 'A corrupted image' },
    { id: '503-unavailable', section: '7.3', needs: [scenario], expects: [[503, 'InternalError']], refused: 'While vision is unavailable, a request' },
  ]),
}
