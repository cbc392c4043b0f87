/// The pages of Studio by method and path.
///
///     var router = Router()
///     router.get("/store/rows/:entity") { visit in try await rows(of: visit.parameter("entity")) }
///
/// A segment that begins with a colon matches any single segment, also one with an escaped slash.
package struct Router: Sendable {
    package typealias Action = @Sendable (Visit) async throws -> StudioResponse

    private enum Segment: Sendable, Equatable {
        case text(String)
        case parameter(String)
    }

    private struct Route: Sendable {
        var method: String
        var segments: [Segment]
        var action: Action
    }

    package struct Match: Sendable {
        package var parameters: [String: String]
        package var action: Action
    }

    package enum Outcome: Sendable {
        case found(Match)
        /// The path exists, with these methods.
        case otherMethod([String])
        case missing
    }

    private var routes: [Route] = []

    package init() {}

    package mutating func get(_ pattern: String, _ action: @escaping Action) { add("GET", pattern, action) }

    package mutating func post(_ pattern: String, _ action: @escaping Action) { add("POST", pattern, action) }

    private mutating func add(_ method: String, _ pattern: String, _ action: @escaping Action) {
        let segments = pattern.split(separator: "/").map { part -> Segment in
            part.hasPrefix(":") ? .parameter(String(part.dropFirst())) : .text(String(part))
        }
        routes.append(Route(method: method, segments: segments, action: action))
    }

    /// Finds the route of a path; of several that match, the first.
    package func outcome(method: String, path: String) -> Outcome {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        // `/store/` is `/store`.
        let trimmed = parts.last?.isEmpty == true ? parts.dropLast() : parts
        let names = trimmed.compactMap { Address.plain($0) }
        guard path.hasPrefix("/"), names.count == trimmed.count else { return .missing }
        let method = method == "HEAD" ? "GET" : method
        var others: [String] = []
        for route in routes {
            guard let parameters = Self.parameters(route.segments, names) else { continue }
            if route.method == method { return .found(Match(parameters: parameters, action: route.action)) }
            others.append(route.method)
        }
        return others.isEmpty ? .missing : .otherMethod(others)
    }

    private static func parameters(_ segments: [Segment], _ names: [String]) -> [String: String]? {
        guard segments.count == names.count else { return nil }
        var parameters: [String: String] = [:]
        for (segment, name) in zip(segments, names) {
            switch segment {
            case .text(let text): guard text == name else { return nil }
            case .parameter(let parameter): parameters[parameter] = name
            }
        }
        return parameters
    }
}
