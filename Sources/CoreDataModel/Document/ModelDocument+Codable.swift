// What archives of a document need of the types that it is made of.

extension AttributeType: Codable {}
extension DeleteRule: Codable {}
