import CoreDataModelTools

/// A page of the model editor, as a part of its address.
///
///     EditorPlace.element(.property(entity: "Book", name: "title"))      // /model/property/Book/title
enum EditorPlace: Hashable, Sendable {
    case overview
    case element(ModelPath)
    case graph, lint, compare, code, source, conflict

    private static let plain: [(place: EditorPlace, name: String)] = [
        (.graph, "graph"), (.lint, "lint"), (.compare, "compare"), (.code, "code"), (.source, "source"),
        (.conflict, "conflict"),
    ]

    /// The segments of the address below `/model`.
    var path: [String] {
        switch self {
        case .overview: []
        case .element(let path): Self.segments(path)
        default: Self.plain.filter { $0.place == self }.map(\.name)
        }
    }

    private static func segments(_ path: ModelPath) -> [String] {
        switch path {
        case .model: ["settings"]
        case .entity(let name): ["entity", name]
        case .composite(let name): ["composite", name]
        case .fetchRequest(let name): ["request", name]
        case .configuration(let name): ["configuration", name]
        case .property(let owner, let name): ["property", owner, name]
        case .fetchIndex(let owner, let name): ["index", owner, name]
        case .compositeElement(let owner, let name): ["part", owner, name]
        }
    }

    /// - Parameter path: segments below `/model`.
    init?(path: [String]) {
        switch (path.first ?? "", path.count) {
        case ("", 0): self = .overview
        case ("settings", 1): self = .element(.model)
        case ("entity", 2): self = .element(.entity(path[1]))
        case ("composite", 2): self = .element(.composite(path[1]))
        case ("request", 2): self = .element(.fetchRequest(path[1]))
        case ("configuration", 2): self = .element(.configuration(path[1]))
        case ("property", 3): self = .element(.property(entity: path[1], name: path[2]))
        case ("index", 3): self = .element(.fetchIndex(entity: path[1], name: path[2]))
        case ("part", 3): self = .element(.compositeElement(composite: path[1], name: path[2]))
        case (let name, 1):
            guard let place = Self.plain.first(where: { $0.name == name })?.place else { return nil }
            self = place
        default: return nil
        }
    }

    /// Reads the address that ``address`` writes.
    init?(address: String) {
        let parts = address.prefix { $0 != "?" }.split(separator: "/").map { Address.plain($0) }
        guard parts.first == "model", !parts.contains(nil) else { return nil }
        self.init(path: parts.dropFirst().compactMap { $0 })
    }

    var address: Address { Address(path: ["model"] + path) }

    /// The page that lists the element.
    var parent: EditorPlace {
        guard case .element(let path) = self else { return .overview }
        return switch path {
        case .property(let owner, _), .fetchIndex(let owner, _): .element(.entity(owner))
        case .compositeElement(let owner, _): .element(.composite(owner))
        default: .overview
        }
    }
}
