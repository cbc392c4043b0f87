extension MangledType {
    /// Whether the type is a collection of a relationship's objects.
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

    /// Returns the expression that passes a parameter of the type: Swift's collections become Foundation's.
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
