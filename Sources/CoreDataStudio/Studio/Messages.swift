import Synchronization

/// Messages about an action that the page after its redirect shows once.
///
///     return .redirect(to: messages.address(Address("store"), saying: "Deleted 3 objects"))
package final class Messages: Sendable {
    private struct State {
        var count = 0
        var texts: [String: String] = [:]
    }

    /// Guards the messages that no page has shown yet.
    private let state = Mutex(State())
    private static let limit = 50

    package init() {}

    /// Returns the address of a page that shows the message.
    package func address(_ address: Address, saying text: String) -> Address {
        let id = state.withLock { state -> String in
            state.count += 1
            // A browser that never follows its redirects must not fill the memory.
            state.texts[String(state.count - Self.limit)] = nil
            state.texts[String(state.count)] = text
            return String(state.count)
        }
        return address.with("message", id)
    }

    package func take(_ id: String) -> String? { state.withLock { $0.texts.removeValue(forKey: id) } }
}
