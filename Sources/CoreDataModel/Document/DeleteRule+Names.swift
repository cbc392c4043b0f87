extension DeleteRule {
    /// The name of the rule in model files.
    package var fileName: String {
        switch self {
        case .noAction: "No Action"
        case .nullify: "Nullify"
        case .cascade: "Cascade"
        case .deny: "Deny"
        }
    }

    package init?(fileName: String) {
        let rules: [DeleteRule] = [.noAction, .nullify, .cascade, .deny]
        guard let rule = rules.first(where: { $0.fileName == fileName }) else { return nil }
        self = rule
    }
}
