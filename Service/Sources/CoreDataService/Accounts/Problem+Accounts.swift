import CoreDataAccounts

extension Problem {
    /// The problem that describes an error of accounts; `nil` for an error whose message is for the log alone. Its type
    /// is the error's code with hyphens: `wrong-credentials`.
    package init?(_ error: AccountError) {
        guard let status = Self.status(error) else { return nil }
        var headers: [String: String] = [:]
        if let seconds = error.retryAfter { headers["Retry-After"] = String(seconds) }
        if status == 401 { headers["WWW-Authenticate"] = "Bearer" }
        self.init(status, Self.type(error.code), Self.title(status), error.description, headers: headers)
    }

    private static func status(_ error: AccountError) -> Int? {
        switch error {
        case .wrongCredentials, .notSignedIn: 401
        case .notAllowed, .signUpClosed: 403
        case .accountNotFound, .sessionNotFound, .groupNotFound, .memberNotFound, .invitationNotFound, .invalidLink,
            .invalidInvitation:
            404
        case .nameTaken, .emailTaken, .lastOwner, .lastAdministrator, .limitReached: 409
        case .invalidName, .invalidEmail, .invalidGroupName, .invalidValue, .passwordTooShort, .passwordTooLong,
            .passwordTooCommon, .passwordInvalid:
            422
        case .tooManyTries: 429
        case .deliveryUnavailable: 501
        case .busy: 503
        case .storeFailed: nil
        }
    }

    private static func type(_ code: String) -> String {
        code.reduce(into: "") { $0 += $1.isUppercase ? "-" + $1.lowercased() : String($1) }
    }

    private static func title(_ status: Int) -> String {
        switch status {
        case 401: "The credentials are not valid"
        case 403: "The account may not do this"
        case 404: "There is no such thing"
        case 409: "The change conflicts with the present state"
        case 422: "A value is not acceptable"
        case 429: "There were too many tries"
        case 501: "The service cannot do this"
        default: "The service is busy"
        }
    }
}
