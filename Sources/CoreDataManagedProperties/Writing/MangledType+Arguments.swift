extension MangledType {
    /// Whether it holds several members of a relationship.
    var isCollection: Bool {
        switch self {
        case .bound(let declaration, _):
            declaration.module == "Swift" && ["Set", "Array"].contains(declaration.name)
        case .nominal(let declaration):
            declaration.module.hasPrefix("Foundation")
                && ["NSSet", "NSOrderedSet", "NSMutableSet", "NSMutableOrderedSet"].contains(declaration.name)
        default: false
        }
    }

    /// How a parameter of the type is handed on: Swift's collections as Foundation's.
    func argumentForm(_ name: String) -> String {
        switch self {
        case .bound(let declaration, _) where isCollection:
            declaration.name == "Set"
                ? "Foundation.NSSet(array: Swift.Array(\(name)))" : "Foundation.NSOrderedSet(array: \(name))"
        case .nominal(let declaration)
        where declaration.module.hasPrefix("Foundation") && declaration.name == "IndexSet":
            "Foundation.NSIndexSet(indexSet: \(name))"
        default: name
        }
    }
}
