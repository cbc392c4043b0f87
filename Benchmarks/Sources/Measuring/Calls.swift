/// One kind of call whose cost is measured by itself.
package enum CallKind: String, CaseIterable, Codable, Sendable {
    case readNumber = "C1"
    case readText = "C2"
    case writeNumber = "C3"
    case writeText = "C4"
    case evaluateNumber = "C5"
    case evaluateText = "C6"
    case evaluatePrefix = "C7"
    case evaluateKeyPath = "C8"
    case performAndWait = "C9"
    case performAsync = "C10"

    package var title: String {
        switch self {
        case .readNumber: "value(forKey:), number"
        case .readText: "value(forKey:), text"
        case .writeNumber: "setValue(_:forKey:), number"
        case .writeText: "setValue(_:forKey:), text"
        case .evaluateNumber: "predicate quantity >= 20"
        case .evaluateText: "predicate name == \"…\""
        case .evaluatePrefix: "predicate name BEGINSWITH \"…\""
        case .evaluateKeyPath: "predicate locationAtHome.storedIn == \"…\""
        case .performAndWait: "performAndWait"
        case .performAsync: "await perform"
        }
    }

    /// What the call is compared with.
    package var other: String? {
        switch self {
        case .readNumber, .readText, .writeNumber, .writeText: "accessor"
        case .evaluateNumber, .evaluateText, .evaluatePrefix, .evaluateKeyPath: "the same in Swift"
        case .performAndWait: "DispatchQueue.sync"
        case .performAsync: "DispatchQueue.async"
        }
    }

    package var goal: CallGoal? {
        switch self {
        case .readNumber, .readText, .writeNumber, .writeText: .ratio(3)
        case .evaluateNumber: .nanoseconds(200)
        default: nil
        }
    }
}

/// What is good enough for a call.
package enum CallGoal {
    /// Times what it is compared with.
    case ratio(Double)
    case nanoseconds(Double)
}

/// Nanoseconds of processor time of one call, and of what it is compared with.
package struct CallResult: Codable {
    package let kind: CallKind
    package let nanoseconds: Double
    package let other: Double

    package init(kind: CallKind, nanoseconds: Double, other: Double) {
        self.kind = kind
        self.nanoseconds = nanoseconds
        self.other = other
    }

    package var ratio: Double { nanoseconds / max(other, 1e-3) }

    package var meetsGoal: Bool? {
        switch kind.goal {
        case .ratio(let goal): ratio <= goal
        case .nanoseconds(let goal): nanoseconds < goal
        case nil: nil
        }
    }
}

extension Report {
    /// Nanoseconds a call; a ✗ marks what misses its goal.
    package var callTable: String {
        var table = Table(["call", "", "ns", "beside", "ns", "ratio", "goal", ""], leading: [0, 1, 3, 7])
        for result in calls {
            let goal =
                switch result.kind.goal {
                case .ratio(let goal): String(format: "%.1f", goal)
                case .nanoseconds(let goal): String(format: "%.0f ns", goal)
                case nil: ""
                }
            table.add([
                result.kind.rawValue, result.kind.title, String(format: "%.1f", result.nanoseconds),
                result.kind.other ?? "", String(format: "%.1f", result.other), String(format: "%.2f", result.ratio),
                goal, result.meetsGoal == false ? "✗" : "",
            ])
        }
        return table.text
    }
}
