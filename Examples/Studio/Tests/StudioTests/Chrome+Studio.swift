import LivePagesTesting

// Whether a page of Studio fits and is accessible.
extension Chrome {
    /// Takes a picture, and finds what does not fit, and what axe-core and the browser complain of.
    func studioFaults(_ name: String) async throws -> [String] {
        // The rules of the apps hold but for the size of links in tables, which are as high as their rows.
        try await faults(name).filter { !$0.contains("too small: ") || isButton($0) }
    }

    private func isButton(_ fault: String) -> Bool { fault.contains("360") && fault.contains("too small: <button") }
}
