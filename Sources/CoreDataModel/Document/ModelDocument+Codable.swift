// Codable conformances of the types in a document.

extension AttributeType: Codable {}
extension DeleteRule: Codable {}
