/// W14: what a program with a large model does before it can work; milliseconds of processor time of each round.
package struct StartUpResult: Codable {
    package static let entities = 200
    package static let attributes = 10
    /// Objects that the first fetch reads.
    package static let fetched = 20

    package enum Step: String, CaseIterable, Codable, Sendable {
        case model
        case create
        case open
        case fetch

        package var title: String {
            switch self {
            case .model: "make the model in code"
            case .create: "open a new store"
            case .open: "open a store that is there"
            case .fetch: "first fetch"
            }
        }
    }

    package var milliseconds: [String: [Double]] = [:]
    /// The same of plain C calls: opening with the metadata, the first fetch.
    package var raw: [String: [Double]] = [:]

    package init() {}

    package mutating func note(_ step: Step, _ seconds: Double) {
        milliseconds[step.rawValue, default: []].append(seconds * 1000)
    }

    package mutating func noteRaw(_ step: Step, _ seconds: Double) {
        raw[step.rawValue, default: []].append(seconds * 1000)
    }
}

extension Report {
    /// Milliseconds of each step from nothing to the first objects.
    package var startUpTable: String {
        var table = Table(["W14", "", "ours ms", "raw ms", "ratio"], leading: [0, 1])
        let size = "\(StartUpResult.entities) entities × \(StartUpResult.attributes)"
        guard let startUp else { return "" }
        for step in StartUpResult.Step.allCases {
            let ours = startUp.milliseconds[step.rawValue].flatMap(Statistics.median)
            let raw = startUp.raw[step.rawValue].flatMap(Statistics.median)
            table.add([
                size, step.title, Self.text(ours), Self.text(raw),
                ours.flatMap { ours in raw.map { String(format: "%.2f", ours / $0) } } ?? "",
            ])
        }
        return table.text
    }

    private static func text(_ value: Double?) -> String { value.map { String(format: "%.3f", $0) } ?? "" }
}
